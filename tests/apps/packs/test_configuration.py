"""Versions of the configuration: saved, checked, published, rolled back."""

import json

import pytest

from pressroom.apps.packs.composition import Compositions
from pressroom.apps.packs.config.versions import NotPublishable
from pressroom.errors import Backpressure, InvalidArgument, NotFound, TooLarge
from tests.apps.packs.conftest import CONFIG, Staging


async def test_exactly_one_version_is_published_and_the_one_before_can_come_back(staged: Staging) -> None:
    async with staged(workers=None) as stage:
        config = stage.app.configuration
        for size in (10, 20, 30):
            await config.put(None, "style:base", f"p {{ font-size: {size}pt }}", author="anna")

        rolled_back = await config.roll_back(None, "style:base")

        versions = await config.list_versions(None, "style:base")
        assert rolled_back.number == 2
        assert [(one.number, one.status) for one in versions] == [(3, "retired"), (2, "published"), (1, "retired")]
        assert (await config.roll_back(None, "style:base")).number == 1
        with pytest.raises(NotFound):
            await config.roll_back(None, "style:base")


async def test_a_version_with_problems_is_kept_as_a_draft_and_not_published(staged: Staging) -> None:
    async with staged(workers=None) as stage:
        config = stage.app.configuration
        await stage.configure()

        with pytest.raises(NotPublishable, match="1 problem"):
            await config.put(None, "template:offer", "<p>\n{{ person.name", author="anna")

        newest, published = await config.list_versions(None, "template:offer")
        assert (newest.status, published.status) == ("invalid", "published")
        assert (newest.problems[0].path, newest.problems[0].line) == ("template:offer", 2)
        assert await config.read_body(None, "template:offer", newest.number) == "<p>\n{{ person.name"


async def test_what_a_registry_or_template_names_must_be_published(staged: Staging) -> None:
    async with staged(workers=None) as stage:
        config = stage.app.configuration
        registry = await config.save(None, "documents_registry", CONFIG["documents_registry"], author="anna")
        template = await config.save(None, "template:offer", CONFIG["template:offer"], author="anna")

        problems = (await config.validate(None, "documents_registry", registry.number)).problems
        dangling = (await config.validate(None, "template:offer", template.number)).problems

        assert [(one.code, one.path) for one in problems] == [
            ("not_published", "/0/template"),
            ("not_published", "/0/style"),
            ("not_published", "/1/template"),
            ("not_published", "/2/template"),
            ("not_published", "/3/template"),
        ]
        assert [one.code for one in dangling] == ["not_published"]


@pytest.mark.parametrize(
    ("key", "body", "code"),
    [
        ("strings:de", "[1]", "not_an_object"),
        ("strings", '{"a": }', "invalid_json"),
        ("strings", f'{{"a": {"1" * 5_000}}}', "invalid_json"),
        ("strings", '{"a": "\\ud800"}', "invalid_json"),
        ("strings", '{"a": NaN}', "invalid_json"),
        ("documents_registry", "[" * 5_000, "invalid_json"),
        ("documents_registry", json.dumps([{"doc_id": "a", "title": "A", "required": ["b"] * 501}]), "too_many"),
        ("style:base", "p {} </STYLE><script>", "invalid_style"),
        ("template:offer", "{{ x.__class__ }}{% include nothing %}{{", "source_invalid"),
    ],
)
async def test_problems_by_kind_of_key(file: str, staged: Staging, key: str, body: str, code: str) -> None:
    async with staged(workers=None) as stage:
        saved = await stage.app.configuration.save(None, key, body, author="anna")

        checked = await stage.app.configuration.validate(None, key, saved.number)

        assert (checked.status, checked.problems[0].code) == ("invalid", code)


async def test_keys_and_texts_that_cannot_be(staged: Staging) -> None:
    async with staged(workers=None) as stage:
        config = stage.app.configuration

        for key in ("", "template:", "template:../x", "documents_registry:x", "secrets"):
            with pytest.raises(InvalidArgument):
                await config.save(None, key, "{}", author="anna")
        with pytest.raises(TooLarge):
            await config.save(None, "style:base", "x" * (1024 * 1024 + 1), author="anna")
        with pytest.raises(InvalidArgument):
            await config.save(None, "style:base", "\0", author="anna")


async def test_documents_use_the_versions_that_they_were_requested_with(staged: Staging) -> None:
    """A registry or template that is published while packs render changes nothing for those."""
    async with staged(workers=None) as stage:
        await stage.configure()
        pack = await stage.new_pack()
        await stage.http.post(f"/packs/{pack}/render/offer")

        await stage.app.configuration.put(None, "template:offer", "<p>new {{ person.name }}{{ start }}</p>", author="anna")

        versions = (await stage.http.get(f"/packs/{pack}/documents/offer")).json()["versions"]
        assert versions[0]["config"]["template:offer"] == 1
        registry = json.loads(await stage.app.configuration.read_body(None, "documents_registry", 1))
        assert registry[0]["doc_id"] == "offer"


async def test_a_template_that_cannot_be_looked_at_now_is_not_called_invalid(
    staged: Staging, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def full(*_: object) -> None:
        raise Backpressure

    async with staged(workers=None) as stage:
        await stage.configure()
        pack = await stage.new_pack()
        stage.app.packs.compositions._analyses.clear()
        monkeypatch.setattr(Compositions, "analyse_texts", full)
        saved = await stage.app.configuration.save(None, "template:offer", "<p></p>", author="anna")

        checked = await stage.http.post(f"/admin/config/template:offer/{saved.number}/validate")
        rendered = await stage.http.post(f"/packs/{pack}/render")

        assert (checked.status_code, rendered.status_code) == (503, 503)
        assert (await stage.app.configuration.get(None, "template:offer", saved.number)).status == "draft"
