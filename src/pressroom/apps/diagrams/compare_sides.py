"""One side of a comparison: a version of a named diagram, or what a short link shows."""

import hashlib

import msgspec

from pressroom.api.waiting import settled
from pressroom.apps.diagrams.embed_keys import key_of
from pressroom.apps.diagrams.named import Names
from pressroom.apps.diagrams.playground_jobs import made_by_link
from pressroom.apps.diagrams.versions import Named, Version
from pressroom.errors import NotFound, Unavailable, WaitTimeout
from pressroom.renderers.svg.picture import label_of
from pressroom.store.artifacts.artifacts import Artifact
from pressroom.web.desk import Visit

PATIENCE = 10.0  # seconds for a picture that is not there yet
READ = 4 * 1024 * 1024  # bytes; longer pictures are compared by their hash


class Side(msgspec.Struct, frozen=True):
    """`source` is None where it is not for these eyes. `looks` is the same for two pictures that cannot be told apart."""

    title: str
    address: str
    opens: str  # where it is edited, if it can be
    source: str | None = None
    theme: str = "light"
    is_picture: bool = False
    looks: str | None = None
    trouble: str | None = None


async def version_side(visit: Visit, names: Names, named: Named, number: int) -> Side:
    """Raises NotFound, and VersionGone for a version that was there once."""
    shown = await names.show(named, "svg", None, number)
    assert shown.wanted is not None
    if shown.picture is None and shown.wanted.status in ("completed", "superseded"):
        try:
            await settled(visit.desk.service, await names.draw(shown, "svg"), PATIENCE)
        except (WaitTimeout, Unavailable):
            pass  # it is said below that there is none yet
        else:
            shown = await names.show(named, "svg", None, number)
    version, picture = shown.wanted or shown.newest, shown.picture
    return Side(
        title=f"Version {number}",
        address=visit.desk.url(f"/a/{named.name}@{number}.svg", key=key_of(named, visit.desk.service.keyring)),
        opens=visit.desk.url(f"/playground/names/{named.name}", version=number),
        source=version.text.source,
        theme=shown.theme or "light",
        is_picture=picture is not None,
        looks=None if picture is None else await _looks(visit, picture, version.text.source),
        trouble=_trouble(version) if picture is None else None,
    )


async def link_side(visit: Visit, link: str) -> Side:
    artifact, _ = await visit.desk.service.rendering.linked(link)
    try:
        sheet = (await made_by_link(visit, link)).sheet
    except NotFound:
        sheet = None
    return Side(
        title=f"/d/{link}",
        address=visit.desk.url(f"/d/{link}"),
        opens=visit.desk.url("/playground", link=link) if sheet else "",
        source=sheet.source if sheet else None,
        theme=(sheet.theme if sheet else "") or "light",
        is_picture=artifact.media_type.startswith("image/"),
        looks=await _looks(visit, artifact, sheet.source if sheet else None),
    )


async def _looks(visit: Visit, picture: Artifact, source: str | None) -> str | None:
    """The ids in an SVG begin with a hash of its source, which nobody sees: two that differ only in it look the same."""
    if source is None or picture.size > READ or picture.media_type != "image/svg+xml":
        return picture.sha256
    data = await visit.desk.service.rendering.whole(picture)
    return hashlib.sha256(data.replace(label_of(source).encode(), b"p")).hexdigest()


def _trouble(version: Version) -> str:
    if version.status == "failed":
        error = version.error or {}
        place = f" (line {error['line']})" if error.get("line") else ""
        return f"It could not be drawn{place}: {error.get('message', 'no reason was given')}"
    return "It is being rendered. Look again in a moment."
