"""Documentation that is broken on purpose, to show that the judge sees it. Each spoils the process that it is called in."""

from typing import Any

from pressroom.model import Ending, Work


def forget_to_publish() -> None:
    """An edition is moved, and nothing notes that readers get it."""
    from pressroom.apps.docs.store import editions

    def mark_published(*_: Any) -> Work[bool]:
        yield from ()
        return True

    editions.mark_published = mark_published


def settle_nothing() -> None:
    """The job ends, and its build does not follow it."""
    from pressroom.apps.docs.processing import build_processing

    def settle(_: Ending) -> Work[None]:
        yield from ()

    build_processing._settle = settle


def name_another_build() -> None:
    """The edge answers with the newest build's name, whatever bytes it sends."""
    from pressroom.apps.docs.edge import sites

    read = sites.Sites._read_edition

    async def renamed(self: sites.Sites, place: tuple[str, str]) -> sites.Shown | None:
        shown = await read(self, place)
        return None if shown is None else shown._replace(build=(shown.build or "")[::-1])

    sites.Sites._read_edition = renamed  # type: ignore[method-assign]
