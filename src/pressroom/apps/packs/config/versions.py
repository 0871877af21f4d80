"""Versions of the configuration in the database: units of work."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

import msgspec

from pressroom.apps.packs.config.registry import ConfigProblem
from pressroom.errors import NotFound, Refused
from pressroom.model import Row, Statement, Work
from pressroom.store.jobs.rows import compact
from pressroom.store.jobs.transitions import now

BEYOND = 1 << 53

type ConfigStatus = Literal["draft", "valid", "invalid", "published", "retired"]


class NotPublishable(Refused):
    """Only a version that was found valid can be published."""

    code = "not_publishable"
    status = 409


class ConfigVersion(msgspec.Struct, frozen=True):
    key: str
    number: int
    status: ConfigStatus
    sha256: str
    problems: list[ConfigProblem]
    comment: str
    author: str
    date_created: int
    date_published: int | None


class PublishedVersion(msgspec.Struct, frozen=True):
    number: int
    sha256: str


def add_version(org_id: str, key: str, body: str, *, comment: str, author: str) -> Work[ConfigVersion]:
    """The next version of a key: a draft."""
    moment = yield from now()
    place = {"org_id": org_id, "key": key}
    yield Statement("packs.lock_config", place)
    ((newest,),) = yield Statement("packs.find_newest_config", place)
    place = {**place, "number": newest + 1}
    yield Statement(
        "packs.insert_config",
        {
            **place,
            "sha256": hashlib.sha256(body.encode()).hexdigest(),
            "comment": comment,
            "author": author,
            "now": moment,
        },
    )
    yield Statement("packs.insert_config_body", {**place, "body": body})
    return (yield from get_version(org_id, key, newest + 1))


def set_problems(org_id: str, key: str, number: int, problems: Sequence[ConfigProblem]) -> Work[ConfigVersion]:
    checked = {"status": _status_of(problems), "problems": compact(list(problems))}
    yield Statement("packs.set_config_checked", {"org_id": org_id, "key": key, "number": number, **checked})
    return (yield from get_version(org_id, key, number))


def publish(org_id: str, key: str, number: int) -> Work[int | None]:
    """Returns the number that was published before. Raises NotPublishable."""
    moment = yield from now()
    place = {"org_id": org_id, "key": key}
    yield Statement("packs.lock_config", place)
    version = yield from get_version(org_id, key, number)
    if version.status == "published":
        return number
    if version.status not in ("valid", "retired"):
        raise NotPublishable(f"version {number} of {key} is {version.status}; only a valid one can be published")
    retired = yield Statement("packs.retire_config", place)
    yield Statement("packs.publish_config", {**place, "number": number, "now": moment})
    return int(retired[0][0]) if retired else None


def roll_back(org_id: str, key: str) -> Work[int]:
    """Publish the version that was published before. Returns its number. Raises NotFound if there is none."""
    yield Statement("packs.lock_config", {"org_id": org_id, "key": key})
    rows = yield Statement("packs.find_previously_published", {"org_id": org_id, "key": key})
    if not rows:
        raise NotFound(f"{key[:100]} has no earlier version that was published")
    yield from publish(org_id, key, rows[0][0])
    return int(rows[0][0])


def get_version(org_id: str, key: str, number: int) -> Work[ConfigVersion]:
    rows = yield Statement("packs.find_config", {"org_id": org_id, "key": key, "number": number})
    if not rows:
        raise NotFound(f"there is no version {number} of {key[:100]!r}")
    return _version_of_row(rows[0])


def list_versions(org_id: str, key: str, *, before: int = BEYOND, limit: int = 100) -> Work[list[ConfigVersion]]:
    """Newest first."""
    rows = yield Statement("packs.list_config_versions", {"org_id": org_id, "key": key, "before": before, "limit": limit})
    return [_version_of_row(row) for row in rows]


def list_newest(org_id: str) -> Work[list[ConfigVersion]]:
    """The newest version of each key."""
    rows = yield Statement("packs.list_newest_configs", {"org_id": org_id})
    return [_version_of_row(row) for row in rows]


def list_published(org_id: str) -> Work[dict[str, PublishedVersion]]:
    """By key."""
    rows = yield Statement("packs.list_published_configs", {"org_id": org_id})
    return {key: PublishedVersion(number, sha256) for key, number, sha256 in rows}


def find_published(org_id: str, key: str) -> Work[int | None]:
    """The number of the version of a key that is published."""
    published = yield from list_published(org_id)
    return published[key].number if key in published else None


def read_body(org_id: str, key: str, number: int) -> Work[str]:
    rows = yield Statement("packs.find_config_body", {"org_id": org_id, "key": key, "number": number})
    if not rows:
        raise NotFound(f"there is no version {number} of {key[:100]!r}")
    return str(rows[0][0])


def read_bodies(org_id: str, versions: Mapping[str, int] | Iterable[tuple[str, int]]) -> Work[dict[str, str]]:
    """The texts of these versions, by key."""
    bodies = {}
    for key, number in dict(versions).items():
        bodies[key] = yield from read_body(org_id, key, number)
    return bodies


def _status_of(problems: Sequence[ConfigProblem]) -> ConfigStatus:
    return "invalid" if problems else "valid"


def _version_of_row(row: Row) -> ConfigVersion:
    key, number, status, sha256, problems, comment, author, created, published = row
    found = msgspec.convert(json.loads(problems), list[ConfigProblem])
    return ConfigVersion(key, number, status, sha256, found, comment, author, created, published)
