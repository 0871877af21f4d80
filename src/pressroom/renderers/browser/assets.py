"""The parts of the browser engines that npm installs. `pressroom engines install node` puts them there."""

from pathlib import Path

from pressroom.renderers import Missing
from pressroom.renderers.node import installation as node_places


def node_modules() -> Path | None:
    folder = node_places.packages_folder() / "node_modules"
    return folder if folder.is_dir() else None


def find_bundle(package: str, file: str) -> Path | None:
    modules = node_modules()
    path = modules / package / file if modules else None
    return path if path and path.is_file() else None


def missing_bundle(package: str, file: str) -> Missing | None:
    if find_bundle(package, file):
        return None
    where = node_places.packages_folder()
    return Missing(f"the npm package {package} is not installed in {where}", node_places.GET_PACKAGES)
