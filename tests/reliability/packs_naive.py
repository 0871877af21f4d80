"""Packs that are broken on purpose, to show that the judge sees it. Each spoils the process that it is called in."""

from typing import Any

from pressroom.apps.packs import renders, store
from pressroom.model import Ending, Work


def forget_the_number() -> None:
    """The newest version of a document is said to be one that there is not."""
    insert = store.insert_renders

    def inserted(rows: Any) -> Work[None]:
        yield from insert(rows)
        for row in rows:
            order = row.target.render_request
            place = {"pack": row.target.pack_id, "doc_id": row.target.doc_id, "number": order.number + 1}
            yield store.Statement("packs.set_latest_render", place)

    store.insert_renders = inserted


def settle_elsewhere() -> None:
    """The job ends in one transaction, and its file is written in another that never comes."""

    def settle(_: renders.DocumentRendering, ending: Ending) -> Work[None]:
        yield from ()

    renders.DocumentRendering.settle = settle  # type: ignore[method-assign]


def cut_the_file_short() -> None:
    """What the render service said before its end is taken for all of it, and recorded with the hash of the whole."""
    from pressroom.artifacts.disk import Disk

    write = Disk._write_blob

    def shortened(self: Disk, data: bytes, key: str) -> None:
        write(self, data[: len(data) // 2] if data.startswith(b"%PDF") else data, key)

    Disk._write_blob = shortened  # type: ignore[method-assign]
