"""`pressroom packs batch` and `zip`: a file with a pack a line, worked on here, and the files as one archive."""

import json
from pathlib import Path
from zipfile import ZipFile

from tests.apps.packs.conftest import CONFIG
from tests.cli.conftest import Run, give, give_on_database

__all__ = ["give", "give_on_database"]

LINES = "title,person.name,start\nAnna,Anna Example,2027-01-01\nBert,Bert Example,soon\n"


def configure(give: Run, folder: Path) -> None:
    for key in ("template:letterhead", "template:offer", "style:base", "strings"):
        path = folder / "text"
        path.write_text(CONFIG[key])
        assert give("packs", "config-put", key, str(path))[0] == 0
    path = folder / "registry.json"
    path.write_text(json.dumps([{"doc_id": "offer", "title": "Offer", "style": "base"}]))
    assert give("packs", "config-put", "documents_registry", str(path))[0] == 0


def test_a_file_becomes_packs_and_an_archive(give_on_database: Run, tmp_path: Path) -> None:
    configure(give_on_database, tmp_path)
    file = tmp_path / "people.csv"
    file.write_text(LINES)

    code, made, told = give_on_database("packs", "batch", str(file), "--wait")
    batch = made.split(":")[0]
    shown = json.loads(give_on_database("packs", "batch", batch, "--json")[1])
    zipped, out, _ = give_on_database("packs", "zip", batch, "-o", str(tmp_path / "all.zip"))
    queued = give_on_database("packs", "batch", batch, "--retry")

    assert (code, "1 ready, 1 failed" in made, "line 3: offer:" in told) == (9, True, True)
    assert (shown["lines"], shown["ready"], shown["failed"], shown["status"]) == (2, 1, 1, "ended")
    assert (zipped, ZipFile(tmp_path / "all.zip").namelist()) == (0, ["2 Anna/offer.pdf"]), out
    assert (queued[0], "queued" in queued[1] or "reading" in queued[1]) == (0, True)


def test_the_files_of_one_pack_are_an_archive(give_on_database: Run, tmp_path: Path) -> None:
    configure(give_on_database, tmp_path)
    data = tmp_path / "data.json"
    data.write_text(json.dumps({"person": {"name": "Anna"}, "start": "2027-01-01"}))
    pack = give_on_database("packs", "new", str(data))[1].strip()

    empty = give_on_database("packs", "zip", pack)
    give_on_database("packs", "render", pack, "--wait")
    full = give_on_database("packs", "zip", pack)

    assert (empty[0], "nothing is ready yet" in empty[2]) == (9, True)
    assert (full[0], ZipFile(tmp_path / f"{pack}.zip").namelist()) == (0, ["offer.pdf"])


def test_what_cannot_be_a_batch_is_refused_with_the_reason(give_on_database: Run, tmp_path: Path) -> None:
    configure(give_on_database, tmp_path)
    wrong = tmp_path / "people.txt"
    wrong.write_text(LINES)
    empty = tmp_path / "empty.csv"
    empty.write_text("")

    refused = [give_on_database("packs", "batch", str(path)) for path in (wrong, empty, tmp_path / "none.csv", "7")]

    assert all(code not in (0, 1) for code, _, _ in refused)
    words = ("neither .csv nor .ndjson", "the upload is empty", "cannot be read", "there is no such batch")
    assert [word for word, (_, _, told) in zip(words, refused, strict=True) if word in told] == list(words)
