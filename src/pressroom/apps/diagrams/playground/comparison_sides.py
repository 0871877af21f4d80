"""One side of a comparison: a version of a named diagram, or what a short link shows."""

import hashlib

import msgspec

from pressroom.api.waiting import wait_until_ended
from pressroom.apps.diagrams.named.diagrams import NamedDiagrams
from pressroom.apps.diagrams.named.embed_keys import embed_key
from pressroom.apps.diagrams.named.versions import NamedDiagram, Version
from pressroom.apps.diagrams.playground.past_renders import past_render_of_link
from pressroom.errors import NotFound, Unavailable, WaitTimeout
from pressroom.renderers.svg.finish import id_prefix
from pressroom.store.artifacts.artifacts import Artifact
from pressroom.web.site import PageRequest

PATIENCE = 10.0  # seconds for a picture that is not there yet
READ = 4 * 1024 * 1024  # bytes; longer pictures are compared by their hash


class ComparisonSide(msgspec.Struct, frozen=True):
    """`source` is None where the caller may not see it. `appearance` is the same for two pictures that cannot be told apart."""

    title: str
    address: str
    opens: str  # where it is edited, if it can be
    source: str | None = None
    theme: str = "light"
    is_picture: bool = False
    appearance: str | None = None
    problem: str | None = None


async def side_of_version(request: PageRequest, names: NamedDiagrams, named: NamedDiagram, number: int) -> ComparisonSide:
    """Raises NotFound, and VersionGone for a version that was there once."""
    shown = await names.resolve_picture(named, "svg", None, number)
    assert shown.wanted is not None
    if shown.picture is None and shown.wanted.status in ("completed", "superseded"):
        try:
            await wait_until_ended(request.site.service, await names.submit_picture(shown, "svg"), PATIENCE)
        except (WaitTimeout, Unavailable):
            pass  # it is said below that there is none yet
        else:
            shown = await names.resolve_picture(named, "svg", None, number)
    version, picture = shown.wanted or shown.newest, shown.picture
    return ComparisonSide(
        title=f"Version {number}",
        address=request.site.url(f"/a/{named.name}@{number}.svg", key=embed_key(named, request.site.service.keyring)),
        opens=request.site.url(f"/playground/names/{named.name}", version=number),
        source=version.text.source,
        theme=shown.theme or "light",
        is_picture=picture is not None,
        appearance=None if picture is None else await _appearance_hash(request, picture, version.text.source),
        problem=_missing_picture_reason(version) if picture is None else None,
    )


async def side_of_link(request: PageRequest, link: str) -> ComparisonSide:
    artifact, _ = await request.site.service.rendering.find_by_link(link)
    try:
        form = (await past_render_of_link(request, link)).form
    except NotFound:
        form = None
    return ComparisonSide(
        title=f"/d/{link}",
        address=request.site.url(f"/d/{link}"),
        opens=request.site.url("/playground", link=link) if form else "",
        source=form.source if form else None,
        theme=(form.theme if form else "") or "light",
        is_picture=artifact.media_type.startswith("image/"),
        appearance=await _appearance_hash(request, artifact, form.source if form else None),
    )


async def _appearance_hash(request: PageRequest, picture: Artifact, source: str | None) -> str | None:
    """The ids in an SVG start with a hash of its source, which is invisible: pictures that differ only there look the same."""
    if source is None or picture.size > READ or picture.media_type != "image/svg+xml":
        return picture.sha256
    data = await request.site.service.rendering.read_all(picture)
    return hashlib.sha256(data.replace(id_prefix(source).encode(), b"p")).hexdigest()


def _missing_picture_reason(version: Version) -> str:
    if version.status == "failed":
        error = version.error or {}
        place = f" (line {error['line']})" if error.get("line") else ""
        return f"It could not be drawn{place}: {error.get('message', 'no reason was given')}"
    return "It is being rendered. Look again in a moment."
