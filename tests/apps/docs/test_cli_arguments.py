"""Which project and server a command means, fields of requests, and what a dry run says by what a service tells."""

from argparse import Namespace
from pathlib import Path
from typing import Any

import pytest

from pressroom.apps.docs.commands.field_values import convert, read_fields
from pressroom.apps.docs.commands.places import ProjectName, find_server, parse_place
from pressroom.apps.docs.commands.upload_plan import edition_of_view, is_concerned, plan_remotely
from pressroom.apps.docs.domain.slugs import SlugPreview
from pressroom.apps.docs.model import AutoCreate, EditionKind
from pressroom.apps.docs.requests import BuildDraft, OrgChanges
from pressroom.apps.docs.store.editions import ShownBuild
from pressroom.errors import InvalidArgument


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for start in ("PRESSROOM", "DOCVERSE"):
        for name in ("ORG", "PROJECT", "URL", "API", "TOKEN"):
            monkeypatch.delenv(f"{start}_{name}", raising=False)


@pytest.mark.parametrize(
    ("text", "org", "environ", "place"),
    [
        ("acme/guide", None, {}, ProjectName("acme", "guide")),
        ("acme/guide", "acme", {}, ProjectName("acme", "guide")),
        ("guide", "acme", {}, ProjectName("acme", "guide")),
        ("guide", None, {}, ProjectName(None, "guide")),
        ("guide", None, {"DOCVERSE_ORG": "acme"}, ProjectName("acme", "guide")),
        (None, None, {"DOCVERSE_ORG": "acme", "DOCVERSE_PROJECT": "guide"}, ProjectName("acme", "guide")),
        (None, None, {"PRESSROOM_PROJECT": "acme/guide", "DOCVERSE_PROJECT": "other"}, ProjectName("acme", "guide")),
        ("acme/guide", None, {"PRESSROOM_ORG": "other"}, ProjectName("acme", "guide")),
    ],
)
def test_a_project_is_named_by_argument_or_environment(
    text: str | None, org: str | None, environ: dict[str, str], place: ProjectName, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environ.items():
        monkeypatch.setenv(name, value)

    assert parse_place(text, org) == place


@pytest.mark.parametrize("text", ["a/b/c", "/guide", "acme/", None])
def test_what_names_no_project_is_refused(text: str | None) -> None:
    with pytest.raises(InvalidArgument):
        parse_place(text)


def test_two_organisations_are_refused() -> None:
    with pytest.raises(InvalidArgument, match="is not of the organisation 'other'"):
        parse_place("acme/guide", "other")


@pytest.mark.parametrize(
    ("server", "database", "environ", "found"),
    [
        (None, None, {}, None),
        ("http://a", None, {}, "http://a"),
        (None, None, {"PRESSROOM_URL": "http://b"}, "http://b"),
        (None, None, {"DOCVERSE_API": "http://c"}, "http://c"),
        (None, None, {"DOCVERSE_API": "http://c", "PRESSROOM_URL": "http://b"}, "http://b"),
        (None, "sqlite:///x.db", {"PRESSROOM_URL": "http://b"}, None),
    ],
)
def test_a_database_in_a_flag_goes_before_a_server_of_the_environment(
    server: str | None, database: str | None, environ: dict[str, str], found: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environ.items():
        monkeypatch.setenv(name, value)

    assert find_server(Namespace(server=server, database=database, home=None)) == found


def test_a_server_and_a_database_are_refused() -> None:
    with pytest.raises(InvalidArgument, match="cannot go together"):
        find_server(Namespace(server="http://a", database="sqlite:///x.db", home=None))


def test_fields_are_json_words_or_files(tmp_path: Path) -> None:
    (tmp_path / "rules.json").write_text('[{"type": "ignore", "glob": "dependabot/*"}]')

    fields = read_fields(["title=The Guide", "purgatory_retention=3600", f"slug_rewrite_rules=@{tmp_path / 'rules.json'}"])

    assert convert(fields, OrgChanges) == OrgChanges(
        title="The Guide", purgatory_retention=3600, slug_rewrite_rules=[{"type": "ignore", "glob": "dependabot/*"}]
    )


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("title", "is not NAME=VALUE"),
        ("colour=red", "unknown field `colour`"),
        ("title=5", "Expected `str`"),
        ("lifecycle_rules=@nowhere.json", "cannot be read"),
        ("lifecycle_rules=@broken.json", "line 2, column 1"),
    ],
)
def test_wrong_fields_are_refused(given: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("broken.json").write_text("[\n}")

    with pytest.raises(InvalidArgument, match=said):
        convert(read_fields([given]), OrgChanges)


def view(slug: str, mode: str, *, pinned: bool = False, build: str | None = None, **params: Any) -> dict[str, Any]:
    plain = {"title": slug, "kind": "draft", "lifecycle_exempt": False}
    return {"slug": slug, "tracking_mode": mode, "tracking_params": params, "pinned": pinned, "build": build} | plain


EDITIONS = [
    view("__main", "git_ref", git_ref="main"),
    view("feature-x", "git_ref", git_ref="feature/x"),
    view("frozen", "git_ref", git_ref="main", pinned=True),
    view("2", "semver_major", major_version=2, build="A"),
    view("by-hand", "manual"),
]


@pytest.mark.parametrize(
    ("git_ref", "slug", "planned"),
    [
        ("main", "main", [("__main", "move"), ("frozen", "stay")]),
        ("feature/x", "feature-x", [("feature-x", "move")]),
        ("feature/y", "feature-y", [("feature-y", "create")]),
        ("v2.4.0", "v2.4.0", [("2", "stay"), ("2.4", "create"), ("v2.4.0", "create")]),
        ("v2.6.0", "v2.6.0", [("2", "move"), ("2.6", "create"), ("v2.6.0", "create")]),
        ("dependabot/a", None, []),
    ],
)
def test_a_dry_run_plans_with_what_a_service_says(git_ref: str, slug: str | None, planned: list[tuple[str, str]]) -> None:
    draft = BuildDraft(git_ref=git_ref, content_hash="")
    kind = None if slug is None else EditionKind.DRAFT
    preview = SlugPreview(git_ref=git_ref, edition_slug=slug, edition_kind=kind, matched_rule=None, rule_source="default")
    editions = [edition_of_view(one) for one in EDITIONS]
    shown = {"2": ShownBuild("A", "v2.5.0", None, 7)}

    plan = plan_remotely(draft, preview, editions, shown, AutoCreate())

    assert sorted((one.slug, one.action) for one in plan.editions) == sorted(planned)
    assert [edition.slug for edition in editions if is_concerned(edition, draft)] == [
        one.slug for one in plan.editions if one.action != "create" and one.slug in {e["slug"] for e in EDITIONS}
    ]
    assert bool(plan.note) == (slug is None)
