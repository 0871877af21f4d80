"""Named diagrams: a text is kept as a version and rendered in one go; what is shown is always the latest good picture."""

import re
from functools import partial
from typing import Any

import msgspec

from pressroom.api.problems import HttpError
from pressroom.apps.diagrams.named import versions
from pressroom.apps.diagrams.named.embed_keys import new_embed_key
from pressroom.apps.diagrams.named.etags import ANY, Condition
from pressroom.apps.diagrams.named.versions import DiagramText, NamedDiagram, PictureTarget, Version
from pressroom.apps.diagrams.renders import NAME
from pressroom.errors import TooLarge
from pressroom.kinds import rendering
from pressroom.model import Submitted, Tier
from pressroom.queue import Queue
from pressroom.renderers import documents
from pressroom.renderers.documents import RenderRequest
from pressroom.sealing import Keyring
from pressroom.store import Database, Transaction
from pressroom.store.artifacts.artifacts import Artifact

OUTPUTS = ("svg", "png", "pdf")
THEMES = ("light", "dark", "auto")
VERSIONS_SHOWN = 50

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")


class ResolvedPicture(msgspec.Struct, frozen=True):
    """What there is to show for a name: the wanted version, the picture of it or of an older one, and the newest version."""

    named: NamedDiagram
    newest: Version
    wanted: Version | None  # the latest good one, or the one that was asked for by its number
    theme: str
    picture: Artifact | None
    number: int | None  # whose picture it is


class VersionHistory(msgspec.Struct, frozen=True):
    """Some versions, newest first; the number at which older ones go on; the newest of all, and the latest good one."""

    versions: list[Version]
    older: int | None
    newest: int
    good: int | None


def require_name(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise HttpError(
            400,
            "invalid_name",
            "a name begins with a letter or digit and has up to 100 letters, digits, dashes and underscores",
        )
    return name


class NamedDiagrams:
    def __init__(self, queue: Queue, database: Database, keyring: Keyring | None = None) -> None:
        self._queue = queue
        self._database = database
        self._keyring = keyring or Keyring()

    async def put(
        self,
        org_id: str | None,
        name: str,
        text: DiagramText,
        trace: dict[str, str],
        *,
        condition: Condition = ANY,
        keep: int = 0,
    ) -> tuple[NamedDiagram, Version, bool]:
        """Keep a text and submit its render, both or neither. The same text again changes nothing.

        `keep` is how many versions stay, 0 for all.
        """
        if rendering.source_for_payload(text.source)[1] is None:
            raise TooLarge(f"the source of a named diagram is text of up to {rendering.INLINE:,} bytes")
        async with self._queue.transaction() as tx:
            adding = partial(versions.add_version, org_id or "", name, text, condition, key=new_embed_key(self._keyring))
            named, version, is_new = await tx.run(adding, name="version")
            if is_new:
                # Of several texts that wait, the key lets the newest be rendered next. The others follow: each that is valid
                # is drawn, for the newest may turn out not to be.
                version, displaced = await self._render(named, version, key=named.holder, within=tx, trace=trace)
                for older in displaced:
                    await self._render(named, older, tier=Tier.BACKGROUND, within=tx, trace=trace)
                if keep:
                    await tx.run(partial(versions.prune_versions, named, version.number, keep), name="version")
        return named, version, is_new

    async def _render(
        self, named: NamedDiagram, version: Version, *, within: Transaction, **options: Any
    ) -> tuple[Version, list[Version]]:
        """The version with its job, and older versions whose job it took over."""
        job = await self._submit(named, version, "svg", theme_of(version, None), first=True, within=within, **options)
        displaced = await within.run(partial(versions.set_version_job, named, version.number, job.uid), name="version")
        return msgspec.structs.replace(version, job_uid=job.uid), displaced

    async def find(self, org_id: str | None, name: str, link: str | None = None) -> NamedDiagram:
        """By its embed key `link`, which needs no organisation, or by its name within the organisation."""
        if link is not None:
            return await self._database.read(partial(versions.find_by_link, name, link))
        return await self._database.read(partial(versions.find_diagram, org_id or "", name))

    async def history(self, named: NamedDiagram, at: int | None) -> VersionHistory:
        return await self._database.read(partial(_read_history, named, at))

    async def list(self, org_id: str | None, after: str, limit: int) -> list[versions.DiagramSummary]:
        return await self._database.read(partial(versions.list_summaries, org_id or "", after, limit))

    async def delete(self, named: NamedDiagram, condition: Condition = ANY) -> None:
        await self._database.run(partial(versions.delete_diagram, named, condition), name="version")

    async def resolve_picture(self, named: NamedDiagram, output: str, theme: str | None, number: int | None) -> ResolvedPicture:
        return await self._database.read(partial(_resolve_picture, named, output, theme, number))

    async def submit_picture(self, resolved: ResolvedPicture, output: str) -> Submitted:
        """Render a picture of a version that is not there yet: another output, another theme, or one that was skipped.

        Without the key of its name: an old text must not take the place of a new one that waits.
        """
        assert resolved.wanted is not None
        first = output == "svg" and resolved.theme == theme_of(resolved.wanted, None) and resolved.wanted.status != "completed"
        return await self._submit(resolved.named, resolved.wanted, output, resolved.theme, first=first)

    async def _submit(
        self, named: NamedDiagram, version: Version, output: str, theme: str, *, first: bool, **options: Any
    ) -> Submitted:
        text = version.text
        payload = rendering.RenderJobPayload(
            language=text.format,
            output=output,
            source=text.source,
            options=text.options | ({"theme": theme} if theme else {}),
            engine=text.engine,
            filename=f"{named.name}.{output}",
        )
        target = PictureTarget(named.id, version.number, theme, first)
        return await self._queue.submit(
            NAME,
            msgspec.to_builtins(payload) | {"mark": msgspec.to_builtins(target)},
            org_id=named.org_id or None,
            subject=f"diagram {named.name}@{version.number}",
            **options,
        )


def theme_of(version: Version, requested: str | None) -> str:
    """The theme to show: the one that is asked for, the version's own, or '' where the engine knows none."""
    text = version.text
    options = documents.make_plan(RenderRequest(text.format, "svg", b"", text.options, text.engine)).reader.Options
    if "theme" not in options.__struct_fields__:
        return ""
    return requested or str(text.options.get("theme", "light"))


def _read_history(named: NamedDiagram, at: int | None) -> Any:
    newest = (yield from versions.list_versions(named, 1))[0].number
    if at is not None:
        yield from versions.get_version(named, at)
    found = yield from versions.list_versions(named, VERSIONS_SHOWN + 1, at)
    good = yield from versions.find_good_version(named)
    older = found[VERSIONS_SHOWN].number if len(found) > VERSIONS_SHOWN else None
    return VersionHistory(found[:VERSIONS_SHOWN], older, newest, None if good is None else good.number)


def _resolve_picture(named: NamedDiagram, output: str, theme: str | None, number: int | None) -> Any:
    newest = (yield from versions.list_versions(named, 1))[0]
    wanted = (
        (yield from versions.find_good_version(named)) if number is None else (yield from versions.get_version(named, number))
    )
    chosen = theme_of(wanted or newest, theme)
    found = None
    if wanted is not None:
        found = yield from versions.find_picture(named, output, chosen, wanted.number)
    if found is None and number is None:
        found = yield from versions.find_picture(named, output, chosen)
    at, picture = found or (None, None)
    return ResolvedPicture(named, newest, wanted, chosen, picture, at)
