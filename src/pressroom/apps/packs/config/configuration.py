"""The configuration of an organisation's packs: versions are saved, checked, published and rolled back here."""

from functools import partial

from pressroom.apps.packs.composition import Compositions
from pressroom.apps.packs.config import versions
from pressroom.apps.packs.config.checks import find_problems, require_body, require_key
from pressroom.apps.packs.config.versions import ConfigVersion, NotPublishable
from pressroom.model import Work
from pressroom.store import Database

type ConfigVersions = list[ConfigVersion]


class Configuration:
    def __init__(self, database: Database, compositions: Compositions) -> None:
        self._database = database
        self._compositions = compositions

    async def save(self, org_id: str | None, key: str, body: str, *, author: str, comment: str = "") -> ConfigVersion:
        """A draft as the next version, whatever it says; `validate` finds out whether it can be used."""
        unit = partial(
            versions.add_version,
            org_id or "",
            require_key(key),
            require_body(body),
            comment=comment[:500],
            author=author,
        )
        return await self._database.run(unit, name="packs")

    async def validate(self, org_id: str | None, key: str, number: int) -> ConfigVersion:
        """Check a version, and keep what was found. One that is or was published stays as it is."""
        others, body = await self._database.read(partial(_read_for_check, org_id or "", key, number))
        problems = await find_problems(key, body, others, self._compositions)
        return await self._database.run(partial(versions.set_problems, org_id or "", key, number, problems), name="packs")

    async def publish(self, org_id: str | None, key: str, number: int) -> tuple[ConfigVersion, int | None]:
        """Check a version and publish it. Also returns the number of the one before. Raises NotPublishable.

        Documents that are being made use the versions that they were requested with.
        """
        checked = await self.validate(org_id, key, number)
        if checked.status == "invalid":
            first = checked.problems[0]
            raise NotPublishable(f"version {number} of {key} has {len(checked.problems)} problems: {first.message}")
        before = await self._database.run(partial(versions.publish, org_id or "", key, number), name="packs")
        return await self.get(org_id, key, number), before

    async def put(self, org_id: str | None, key: str, body: str, *, author: str, comment: str = "") -> ConfigVersion:
        """Save, check and publish in one go. Raises NotPublishable; the draft is kept."""
        saved = await self.save(org_id, key, body, author=author, comment=comment)
        return (await self.publish(org_id, key, saved.number))[0]

    async def roll_back(self, org_id: str | None, key: str) -> ConfigVersion:
        """Publish the version that was published before."""
        number = await self._database.run(partial(versions.roll_back, org_id or "", require_key(key)), name="packs")
        return await self.get(org_id, key, number)

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


def _read_for_check(org_id: str, key: str, number: int) -> Work[tuple[dict[str, str], str]]:
    published = yield from versions.list_published(org_id)
    body = yield from versions.read_body(org_id, key, number)
    numbers = {name: version.number for name, version in published.items() if name != key}
    return (yield from versions.read_bodies(org_id, numbers)), body
