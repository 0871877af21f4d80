"""What a database holds after a run of documentation builds, as values for the judge."""

import json
from dataclasses import dataclass
from typing import Any

from tests import looking
from tests.reliability import dump
from tests.reliability.dump import Dump

BUILDS = """
SELECT docs_build.uid, docs_project.slug, number, status, annotations, artifact, error
  FROM docs_build JOIN docs_project ON docs_project.id = docs_build.project
 ORDER BY docs_project.slug, number
"""
EDITIONS = """
SELECT docs_edition.id, docs_project.slug, docs_edition.slug, build, publish_seq, published_seq, publish_status
  FROM docs_edition JOIN docs_project ON docs_project.id = docs_edition.project
"""
HISTORY = "SELECT edition, build, seq, publish_status FROM docs_history ORDER BY edition, seq"


@dataclass(frozen=True)
class BuildRow:
    uid: str
    project: str
    number: int | None
    status: str
    nonce: str
    artifact: str | None
    error: dict[str, Any] | None

    @property
    def name(self) -> str:
        return f"{self.project}@{self.number or self.uid}"


@dataclass(frozen=True)
class EditionRow:
    id: str
    project: str
    slug: str
    build: str | None
    publish_seq: int
    published_seq: int
    publish_status: str | None

    @property
    def name(self) -> str:
        return f"{self.project}/{self.slug}"


@dataclass(frozen=True)
class HistoryRow:
    edition: str
    build: str
    seq: int
    publish_status: str


@dataclass(frozen=True)
class DocsDump(Dump):
    builds: list[BuildRow]
    editions: list[EditionRow]
    history: list[HistoryRow]


def read(address: str) -> DocsDump:
    return DocsDump(
        **vars(dump.read(address)),
        builds=[_build_of(row) for row in looking.rows(address, BUILDS)],
        editions=[EditionRow(*row) for row in looking.rows(address, EDITIONS)],
        history=[HistoryRow(*row) for row in looking.rows(address, HISTORY)],
    )


def _build_of(row: Any) -> BuildRow:
    uid, project, number, status, annotations, artifact, error = row
    nonce = json.loads(annotations).get("nonce", "")
    return BuildRow(uid, project, number, status, nonce, artifact, json.loads(error) if error else None)
