"""Styles and scripts. An address carries a part of the file's hash: browsers keep it for ever, and see every change."""

import gzip
import hashlib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from pressroom.api.routes import Routes
from pressroom.errors import NotFound

_TYPES = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}


class Asset(NamedTuple):
    media_type: str
    tag: str
    content: bytes
    gzipped: bytes


@cache
def load_assets(apps: tuple[tuple[str, str], ...] = ()) -> dict[str, Asset]:
    """The core's by their names, and those of each app with its name in front (`wiki/wiki.css`)."""
    assets = _assets_of_package("pressroom.web")
    for app, package in apps:
        assets |= {f"{app}/{name}": asset for name, asset in _assets_of_package(package).items()}
    return assets


def _assets_of_package(package: str) -> dict[str, Asset]:
    folder = files(package) / "static"
    assets = {}
    for file in folder.iterdir() if folder.is_dir() else ():
        ending = "." + file.name.rpartition(".")[2]
        if ending in _TYPES:
            data = file.read_bytes()
            assets[file.name] = Asset(_TYPES[ending], hashlib.sha256(data).hexdigest()[:12], data, gzip.compress(data, mtime=0))
    return assets


def asset_path(name: str, assets: Mapping[str, Asset]) -> str:
    return f"/desk/static/{assets[name].tag}/{name}"


def router(assets: Mapping[str, Asset]) -> Routes:
    routes = Routes()
    api = StaticFiles(assets)
    routes.add("/desk/static/{tag}/{name:path}", api.get_static, "GET", "HEAD")
    return routes


class StaticFiles:
    def __init__(self, assets: Mapping[str, Asset]) -> None:
        self._assets = assets

    async def get_static(self, request: Request, tag: str, name: str) -> Response:
        asset = self._assets.get(name)
        if asset is None:
            raise NotFound("there is no such file")
        fresh = "public, max-age=31536000, immutable" if tag == asset.tag else "no-cache"
        headers = {"Cache-Control": fresh, "X-Content-Type-Options": "nosniff", "Vary": "Accept-Encoding"}
        if "gzip" in request.headers.get("accept-encoding", ""):
            return Response(asset.gzipped, headers=headers | {"Content-Encoding": "gzip"}, media_type=asset.media_type)
        return Response(asset.content, headers=headers, media_type=asset.media_type)
