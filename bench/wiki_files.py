"""The folder that is imported: real files, as they lie in their packages."""

import shutil
from dataclasses import dataclass
from pathlib import Path

from pressroom.renderers.documents import RenderRequest, engines_of, make_plan
from tests.conformance import documentation


@dataclass(frozen=True)
class Files:
    folder: Path
    sources: list[bytes]

    @property
    def count(self) -> int:
        return len(self.sources)

    @property
    def size(self) -> int:
        return sum(map(len, self.sources))


def laid_out(folder: Path, most: int) -> Files:
    """Evenly out of all packages if not all are wanted. Raises OutOfReach.

    Files with diagrams are left out: other engines draw those, and the bare loop has none to draw them with.
    """
    found = [path for path in documentation.markdown_files() if not _has_diagrams(path)]
    chosen = found[:: max(1, len(found) // most)][:most]
    for path in chosen:
        place = folder / documentation.place_of(path)
        if not place.exists():
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, place)
    return Files(folder, [path.read_bytes() for path in chosen])


def _has_diagrams(path: Path) -> bool:
    return len(engines_of(make_plan(RenderRequest("markdown", "html", path.read_bytes(), {"diagrams": True})))) > 1
