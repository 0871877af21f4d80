"""Render a project's dashboard once its editions are where they are (Q23), and keep the last good one."""

from pressroom.app import Core


class Dashboards:
    def __init__(self, core: Core) -> None:
        self._core = core

    async def render(self, project: str) -> int:
        """Render and keep the files of a project (its id), from its template or the built-in one, for the `editions_version`
        that it has now; again, three times at most, if that grows meanwhile. Returns the version that is kept now.

        A version that is kept already is not rendered. A template that fails leaves the last good files and raises
        TemplateFailed."""
        raise NotImplementedError

    async def read(self, project: str) -> dict[str, bytes]:
        """The files by name: `__dashboard.html`, `__404.html`, `__switcher.json`, `__editions/{slug}.json`. Empty before
        the first render."""
        raise NotImplementedError
