"""The configuration of an organisation's packs: versions are saved, checked, published and rolled back here."""

from collections.abc import Mapping
from functools import partial

from pressroom.apps.packs.actor import Actor
from pressroom.apps.packs.composition import Compositions
from pressroom.apps.packs.config import versions
from pressroom.apps.packs.config.checks import find_problems, require_body, require_key
from pressroom.apps.packs.config.registry import ConfigProblem
from pressroom.apps.packs.config.versions import ConfigVersion, NotPublishable
from pressroom.model import Work
from pressroom.store import Database

type ConfigVersions = list[ConfigVersion]


class Configuration:
    def __init__(self, database: Database, compositions: Compositions) -> None:
        self._database = database
        self._compositions = compositions

    async def save(
        self, org_id: str | None, key: str, body: str, *, author: str, comment: str = "", actor: Actor | None = None
    ) -> ConfigVersion:
        """A draft as the next version, whatever it says; `validate` finds out whether it can be used."""
        unit = partial(
            _save, org_id or "", require_key(key), require_body(body), comment=comment[:500], author=author, actor=actor
        )
        return await self._database.run(unit, name="packs")

    async def validate(self, org_id: str | None, key: str, number: int, *, actor: Actor | None = None) -> ConfigVersion:
        """Check a version, and keep what was found. One that is or was published stays as it is."""
        others, body = await self._database.read(partial(_read_for_check, org_id or "", key, number))
        problems = await find_problems(key, body, others, self._compositions)
        return await self._database.run(partial(_set_problems, org_id or "", key, number, problems, actor), name="packs")

    async def publish(
        self, org_id: str | None, key: str, number: int, *, actor: Actor | None = None
    ) -> tuple[ConfigVersion, int | None]:
        """Check a version and publish it. Also returns the number of the one before. Raises NotPublishable.

        Documents that are being made use the versions that they were requested with.
        """
        checked = await self.validate(org_id, key, number)
        if checked.status == "invalid":
            first = checked.problems[0]
            raise NotPublishable(f"version {number} of {key} has {len(checked.problems)} problems: {first.message}")
        before = await self._database.run(partial(_publish, org_id or "", key, number, actor), name="packs")
        return await self.get(org_id, key, number), before

    async def put(self, org_id: str | None, key: str, body: str, *, author: str, comment: str = "") -> ConfigVersion:
        """Save, check and publish in one go. Raises NotPublishable; the draft is kept."""
        saved = await self.save(org_id, key, body, author=author, comment=comment)
        return (await self.publish(org_id, key, saved.number))[0]

    async def put_many(self, org_id: str | None, texts: Mapping[str, str], *, author: str) -> ConfigVersions:
        """Publish texts that may name each other, whatever their order. A text that is published already makes no version.

        Raises NotPublishable with the first problem; what was published before it stays.
        """
        before = await self.read_published(org_id)
        waiting = {key: text for key, text in texts.items() if before.get(key) != text}
        published: ConfigVersions = []
        while waiting:
            problems: dict[str, ConfigProblem] = {}
            for key, text in waiting.items():
                if found := await find_problems(key, text, await self.read_published(org_id), self._compositions):
                    problems[key] = found[0]
                else:
                    published.append(await self.put(org_id, key, text, author=author))
            if problems.keys() == waiting.keys():  # nothing was published that could have mended one of them
                key, problem = next(iter(problems.items()))
                place = f" (line {problem.line})" if problem.line else ""
                raise NotPublishable(f"{key} cannot be published: {problem.message}{place}")
            waiting = {key: waiting[key] for key in problems}
        return published

    async def read_published(self, org_id: str | None) -> dict[str, str]:
        """The published texts, by their keys."""
        return await self._database.read(partial(_read_published, org_id or ""))

    async def roll_back(self, org_id: str | None, key: str, *, actor: Actor | None = None) -> ConfigVersion:
        """Publish the version that was published before."""
        unit = partial(_roll_back, org_id or "", require_key(key), actor)
        return await self.get(org_id, key, await self._database.run(unit, name="packs"))

    async def get(self, org_id: str | None, key: str, number: int) -> ConfigVersion:
        return await self._database.read(partial(versions.get_version, org_id or "", key, number))

    async def read_body(self, org_id: str | None, key: str, number: int) -> str:
        return await self._database.read(partial(versions.read_body, org_id or "", key, number))

    async def list_keys(self, org_id: str | None) -> ConfigVersions:
        """The newest version of each key."""
        return await self._database.read(partial(versions.list_newest, org_id or ""))

    async def list_versions(self, org_id: str | None, key: str, *, limit: int = 100) -> ConfigVersions:
        """Newest first."""
        return await self._database.read(partial(versions.list_versions, org_id or "", key, limit=limit))


def _save(org_id: str, key: str, body: str, *, comment: str, author: str, actor: Actor | None) -> Work[ConfigVersion]:
    saved = yield from versions.add_version(org_id, key, body, comment=comment, author=author)
    if actor is not None:
        after = {"number": saved.number, "sha256": saved.sha256, "comment": saved.comment}
        yield from actor.record("config.draft", key, after=after)
    return saved


def _set_problems(
    org_id: str, key: str, number: int, problems: list[ConfigProblem], actor: Actor | None
) -> Work[ConfigVersion]:
    before = yield from versions.get_version(org_id, key, number)
    checked = yield from versions.set_problems(org_id, key, number, problems)
    if actor is not None and checked.status != before.status:
        yield from actor.record(
            "config.validate",
            f"{key} {number}",
            before={"status": before.status},
            after={"status": checked.status, "problems": len(checked.problems)},
        )
    return checked


def _publish(org_id: str, key: str, number: int, actor: Actor | None) -> Work[int | None]:
    before = yield from versions.publish(org_id, key, number)
    if actor is not None and before != number:
        yield from actor.record("config.publish", key, before={"published": before}, after={"published": number})
    return before


def _roll_back(org_id: str, key: str, actor: Actor | None) -> Work[int]:
    before = yield from versions.find_published(org_id, key)
    number = yield from versions.roll_back(org_id, key)
    if actor is not None:
        yield from actor.record("config.roll_back", key, before={"published": before}, after={"published": number})
    return number


def _read_published(org_id: str) -> Work[dict[str, str]]:
    published = yield from versions.list_published(org_id)
    return (yield from versions.read_bodies(org_id, {key: version.number for key, version in published.items()}))


def _read_for_check(org_id: str, key: str, number: int) -> Work[tuple[dict[str, str], str]]:
    published = yield from versions.list_published(org_id)
    body = yield from versions.read_body(org_id, key, number)
    numbers = {name: version.number for name, version in published.items() if name != key}
    return (yield from versions.read_bodies(org_id, numbers)), body
