"""The ready files of a pack or of a batch under their names in a zip archive."""

import re
from functools import partial

from pressroom.apps.packs.batches import store
from pressroom.apps.packs.model import Pack
from pressroom.apps.packs.packs import Packs
from pressroom.apps.packs.zip_archive import ZipFile
from pressroom.artifacts import key_of
from pressroom.model import Work
from pressroom.store import Database
from pressroom.store.artifacts import artifacts

LINES_AT_ONCE = 500


async def list_pack_files(packs: Packs, pack: Pack, *, by_link: bool) -> list[ZipFile]:
    """The newest ready file of each document, in the order of the registry. Holders of a link get no locked documents."""
    goods = [
        listed.renders.good
        for listed in await packs.documents(pack)
        if listed.renders and listed.renders.good and (listed.document.is_available or not by_link)
    ]

    def unit() -> Work[list[ZipFile]]:
        files = []
        for good in goods:
            assert good.artifact is not None
            artifact = yield from artifacts.get(good.artifact)
            files.append(ZipFile(f"{good.doc_id}.pdf", key_of(*artifact.blob), artifact.size))
        return files

    return await packs.database.read(unit)


async def list_batch_files(database: Database, batch_id: str, digits: int) -> list[ZipFile]:
    """In a folder for each line: `00042 Anna Example/offer.pdf`."""
    files: list[ZipFile] = []
    last: int | None = 0
    while last is not None:
        found, last = await database.read(partial(store.list_files, batch_id, after=last, limit=LINES_AT_ONCE))
        files += [ZipFile(_name_of(one, digits), key_of(*one.blob), one.size) for one in found]
    return files


def _name_of(file: store.BatchFile, digits: int) -> str:
    title = re.sub(r"[^\w.-]+", " ", file.title).strip(" .")[:60].strip()
    return f"{' '.join(part for part in (f'{file.number:0{digits}}', title) if part)}/{file.doc_id}.pdf"
