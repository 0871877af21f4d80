"""The base of every engine whose library is written in JavaScript."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

from pressroom.errors import EngineCrashed, TooLarge
from pressroom.renderers import Engine, Missing, Rendered
from pressroom.renderers.node import installation as node_places
from pressroom.renderers.node.sidecar import Sidecar
from pressroom.renderers.source_errors import source_error
from pressroom.renderers.svg import convert as svgdraw
from pressroom.renderers.svg import finish
from pressroom.renderers.svg.cleaner import clean_svg
from pressroom.renderers.svg.finish import PictureOptions, ThemedOptions


class NodeEngine(Engine):
    """Subclasses name a file in node/languages and the npm package that it loads."""

    language: ClassVar[str]
    package: ClassVar[str]
    makes = ("svg", "png", "pdf")
    packages = svgdraw.PACKAGES
    uses_fonts = True
    Options = PictureOptions

    def __init__(self) -> None:
        self._sidecar: Sidecar | None = None

    @classmethod
    def version(cls) -> str:
        return f"{cls.package} {node_places.package_version(cls.package)}, {super().version()}"

    @classmethod
    def missing(cls) -> Missing | None:
        return super().missing() or node_places.missing_package(cls.package)

    @classmethod
    def reads(cls) -> Sequence[Path]:
        binary = node_places.find_node()
        return [
            node_places.SCRIPTS,
            node_places.packages_folder(),
            *([binary.parent, binary.resolve().parent] if binary else []),
        ]

    @classmethod
    def environment(cls) -> dict[str, str]:
        return node_places.node_environment()

    def render(self, source: str, output: str, options: Any) -> Rendered:
        finish.require_drawable(source)
        label = finish.id_prefix(source)
        shades = finish.themes_to_draw(output, options) if isinstance(options, ThemedOptions) else ("light",)
        pictures = [
            clean_svg(
                self.draw(source, shade), title=options.title, description=options.description, prefix=f"{label}-{shade}-"
            )
            for shade in shades
        ]
        return finish.finish_picture(pictures, output, options, self.limits, label)

    def draw(self, source: str, theme: str = "light") -> str:
        """The SVG as its library made it: not yet clean."""
        answer = self._request_sidecar({"language": self.language, "source": source, "theme": theme})
        if answer.get("shaken"):
            self.close()
        match answer:
            case {"svg": str(svg)}:
                return svg
            case {"error": dict(error)}:
                raise source_error(source, error["message"], error.get("line"), error.get("column"))
            case {"large": int(size)}:
                raise TooLarge(f"the picture has {size:,} characters; the limit is {self.limits.output:,} bytes")
            case _:
                self.close()
                raise EngineCrashed(f"node could not draw: {answer.get('fault')}")

    def close(self) -> None:
        if self._sidecar:
            self._sidecar.terminate()
            self._sidecar = None

    def _request_sidecar(self, request: dict[str, Any]) -> dict[str, Any]:
        self._sidecar = self._sidecar or Sidecar(self.limits)
        try:
            return self._sidecar.request(request)
        except BaseException:
            self.close()  # the next source gets a new one
            raise
