"""`pressroom packs`: from a folder and a JSON file to PDF files, with a database and without one."""

import json
from functools import partial
from pathlib import Path

import pypdf
import pytest

from tests.cli.conftest import Run

REGISTRY = [{"doc_id": "offer", "title": "Offer"}, {"doc_id": "terms", "title": "Terms"}]
FILES = {
    "packs/registry.json": json.dumps(REGISTRY),
    "packs/templates/head.html": "<header>{{ t('company') }}</header>",
    "packs/templates/offer.html": "{% include 'head' %}<h1>Offer for {{ person.name }}</h1>",
    "packs/templates/terms.html": "<h1>Terms</h1>",
    "packs/strings/en.json": '{"company": "Example Ltd"}',
    "data.json": '{"person": {"name": "Anna"}}',
    "empty.json": "{}",
    "broken.json": '{\n  "person": ,\n}',
}


@pytest.fixture
def run(give_on_database: Run, tmp_path: Path) -> Run:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return partial(give_on_database, "packs")


def test_a_pack_from_a_folder_to_files(run: Run, tmp_path: Path) -> None:
    imported = run("import", "packs")
    pack = run("new", "data.json", "--title", "Anna")[1].strip()
    rendered = run("render", pack, "--wait", "-o", "out")
    again = run("render", pack)
    listed = json.loads(run("list", "--json")[1])
    shown = run("show", pack)[1]

    assert imported[0] == 0
    assert imported[1].startswith("5 keys are published: ")
    assert rendered[0] == 0
    assert sorted(rendered[1].splitlines()) == ["out/offer.pdf: 1 page", "out/terms.pdf: 1 page"]
    assert (tmp_path / "out/offer.pdf").read_bytes().startswith(b"%PDF-")
    assert again == (0, "", "offer: skipped, ready\nterms: skipped, ready\n")
    assert listed == [{"pack_id": pack, "title": "Anna", "states": {"ready": 2}}]
    assert shown.splitlines()[1].split()[:4] == ["offer", "ready", "1", "1"]


def test_the_configuration_goes_out_as_it_came_in(run: Run, tmp_path: Path) -> None:
    run("import", "packs")

    assert run("export", "copy") == (0, "5 files are in copy\n", "")

    for name in ("registry.json", "templates/offer.html", "strings/en.json"):
        assert (tmp_path / "copy" / name).read_text() == FILES[f"packs/{name}"]
    assert run("import", "copy")[1].startswith("0 keys are published")


def test_a_broken_template_is_kept_as_a_draft_and_explained(run: Run, tmp_path: Path) -> None:
    run("import", "packs")
    (tmp_path / "bad.html").write_text("<h1>\n{{ person.name")

    code, out, err = run("config-put", "template:offer", "bad.html")

    assert (code, out) == (3, "")
    assert "version 2 of template:offer is kept as a draft; it has 1 problems:\n" in err
    assert "template:offer line 2: " in err
    assert json.loads(run("config-get", "template:offer", "--json")[1])["version"] == 1


def test_one_pdf_of_a_pack(run: Run, tmp_path: Path) -> None:
    run("import", "packs")
    pack = run("new", "data.json", "--lang", "de")[1].strip()
    nothing = run("bundle", pack)
    too_early = run("bundle", pack, "-o", "pack.pdf")
    run("render", pack, "offer", "--wait")

    made = run("bundle", pack, "--stamp", "Draft", "--wait", "-o", "pack.pdf")
    plain = run("bundle", pack, "--only", "offer", "--no-contents", "--no-page-numbers", "--wait", "--json")

    assert (nothing[0], "offer, terms" in nothing[2]) == (2, True)
    assert (too_early[0], "-o goes with --wait" in too_early[2]) == (2, True)
    assert made == (0, "pack.pdf: 2 pages of offer\n", "terms: left out, it has no ready file\n")
    texts = [page.extract_text() for page in pypdf.PdfReader(tmp_path / "pack.pdf").pages]
    assert ["Inhalt" in texts[0], "Offer for Anna" in texts[1], "Draft" in texts[1], "2 / 2" in texts[1]] == [True] * 4
    assert (plain[0], json.loads(plain[1])["pages"]) == (0, 1)


def test_make_needs_no_database(run: Run, tmp_path: Path) -> None:
    made = run("make", "data.json", "--templates", "packs", "-o", "made")

    assert made[0] == 0
    assert (tmp_path / "made/offer.pdf").read_bytes().startswith(b"%PDF-")


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("make", "empty.json", "--templates", "packs", "-o", "made"), 9, "offer: skipped, the data lacks person"),
        (("make", "empty.json", "--templates", "packs", "--only", "offer"), 2, "NEEDS_INPUT"),
        (("make", "broken.json", "--templates", "packs"), 2, "broken.json is not JSON: line 2, column 13"),
        (("make", "data.json", "--templates", "nowhere"), 2, "nowhere is not a folder"),
        (("render", "0199e3c2-5b7e-7c11-9d2a-4f6b8a0c1d2e"), 6, "there is no such pack"),
        (("config-put", "secrets", "data.json"), 2, "there is no key 'secrets'"),
    ],
)
def test_what_is_wrong_is_said(run: Run, arguments: tuple[str, ...], code: int, said: str) -> None:
    run("import", "packs")

    ended, _, err = run(*arguments)

    assert ended == code, err
    assert said in err
