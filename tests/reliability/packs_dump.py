"""What a database holds after a run of packs, as values for the judge."""

from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import apsw

from tests.reliability import dump
from tests.reliability.dump import Dump

PACKS = "SELECT id, title FROM packs_pack ORDER BY id"
RENDERS = """
SELECT pack, doc_id, number, packs_render.job_uid, packs_render.job_id, outcome, file_id, packs_render.sha256,
       (SELECT count(*) FROM artifact WHERE artifact.job_uid = packs_render.job_uid)
  FROM packs_render
 ORDER BY pack, doc_id, number
"""
DOCUMENTS = "SELECT pack, doc_id, latest, good FROM packs_document ORDER BY pack, doc_id"
ALERTS = "SELECT coalesce(sum(count), 0) FROM alert WHERE kind = 'packs.render'"


@dataclass(frozen=True)
class RenderRow:
    pack: str
    doc_id: str
    number: int
    job_uid: str
    job_id: str
    outcome: str | None
    file_id: str | None
    sha256: str | None
    artifacts: int = 1  # of its job

    @property
    def name(self) -> str:
        return f"{self.pack}/{self.doc_id}@{self.number}"


@dataclass(frozen=True)
class DocumentRow:
    pack: str
    doc_id: str
    latest: int
    good: int | None


@dataclass(frozen=True)
class PacksDump(Dump):
    packs: dict[str, str]  # nonces by id
    renders: list[RenderRow]
    documents: list[DocumentRow]
    alerted: int  # failures that alerts count


def read(path: Path) -> PacksDump:
    with closing(apsw.Connection(str(path))) as connection:
        ((alerted,),) = connection.execute(ALERTS)
        return PacksDump(
            **vars(dump.read(path)),
            packs=dict(connection.execute(PACKS)),  # type: ignore[arg-type]
            renders=[RenderRow(*row) for row in connection.execute(RENDERS)],
            documents=[DocumentRow(*row) for row in connection.execute(DOCUMENTS)],
            alerted=alerted,
        )
