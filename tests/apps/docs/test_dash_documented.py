"""What docs/documentation-dashboards.md says is what there is."""

import re
from pathlib import Path

import msgspec

from pressroom.apps.docs import errors
from pressroom.apps.docs.dashboards.context import RenderingService, dashboard_context
from pressroom.apps.docs.dashboards.sample import MOMENT, sample_facts
from pressroom.apps.docs.git import addresses, git_process, remote, template_files
from pressroom.apps.docs.git.template_files import read_template
from pressroom.apps.docs.settings import DocsSettings
from pressroom.apps.docs.urls import PublishedUrls

PAGE = (Path(__file__).parents[3] / "docs" / "documentation-dashboards.md").read_text(encoding="utf-8")


def row(name: str) -> set[str]:
    found = re.search(rf"^\| {re.escape(name)} \|(.*)\|$", PAGE, re.MULTILINE)
    assert found is not None, name
    return set(re.findall(r"`([a-z_]+)`", found[1]))


def test_the_documented_template_is_read() -> None:
    block = re.search(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    assert block is not None
    files = {"template.toml": block[1].encode(), "logo-small.svg": b"<svg/>", "base.css": b"a{}", "dashboard.css": b"b{}"}
    files |= {"dashboard.html.jinja": b"one", "404.html.jinja": b"two"}

    template = read_template(files)

    assert template.dashboard.assets.css == "a{}\nb{}"
    assert template.dashboard.assets.images == {"logo_small_svg": "<svg/>"}
    assert template.error_404.source == "two"


def test_the_documented_fields_are_those_of_the_context() -> None:
    urls = PublishedUrls(DocsSettings())
    context = dashboard_context(sample_facts(), urls, RenderingService("https://press.example.org", "1"), MOMENT)

    release = context["editions"]["releases"][0]
    assert row("`org`") == context["org"].keys()
    assert row("`project`") == context["project"].keys()
    assert row("an edition") == release.keys()
    assert row("its `build`") == release["build"].keys()
    assert row("`docverse`") == context["docverse"].keys()
    assert context["editions"].keys() == {"main", "releases", "drafts", "major", "minor", "alternates"}


def test_the_documented_limits_and_codes_are_those_of_the_code() -> None:
    assert f"| {git_process.MOST_FILES}, {git_process.LARGEST_TREE // 1024**2} MB |" in PAGE
    assert f"| {git_process.LARGEST_PACK // 1024**2} MB |" in PAGE
    assert f"| {template_files.LARGEST_CONFIG // 1024} KB, {template_files.MOST_DOTS} dots in a line |" in PAGE
    assert f"joined | {template_files.LARGEST_ASSETS // 1024**2} MB |" in PAGE
    assert f"more than {git_process.MOST_REFS:,}" in PAGE
    assert f"| {remote.SECONDS:g} s |" in PAGE
    for error in (
        addresses.GitAddressRefused,
        remote.RepositoryRefused,
        remote.RepositoryUnreachable,
        errors.TemplateFailed,
        errors.SignatureInvalid,
        errors.DeliveryDiffers,
    ):
        assert f"| `{error.code}` |" in PAGE


def test_a_context_is_plain_data() -> None:
    context = dashboard_context(sample_facts(), PublishedUrls(DocsSettings()), RenderingService("", "1"), MOMENT)
    assert msgspec.json.decode(msgspec.json.encode(context)) == context
