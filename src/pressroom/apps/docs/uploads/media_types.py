"""The media type of a file by the end of its name. Not from the tables of the machine: each worker must say the same."""

import re
from pathlib import Path

_HEAD = 1024  # bytes in which a page names its encoding
_CHARSET = re.compile(rb"<meta\b[^>]{0,500}?\bcharset\s*=\s*[\"']?\s*([\w-]{1,40})", re.IGNORECASE)
_UNICODE = ("utf-8", "utf8", "utf-16", "utf-16le", "utf-16be")  # a page that could be read so far is in UTF-8, says HTML

_TYPES = {
    "atom": "application/atom+xml",
    "avif": "image/avif",
    "bmp": "image/bmp",
    "bz2": "application/x-bzip2",
    "cjs": "text/javascript",
    "css": "text/css",
    "csv": "text/csv",
    "eot": "application/vnd.ms-fontobject",
    "epub": "application/epub+zip",
    "gif": "image/gif",
    "glb": "model/gltf-binary",
    "gltf": "model/gltf+json",
    "gz": "application/gzip",
    "htm": "text/html",
    "html": "text/html",
    "ico": "image/vnd.microsoft.icon",
    "ics": "text/calendar",
    "ipynb": "application/x-ipynb+json",
    "jpeg": "image/jpeg",
    "jpg": "image/jpeg",
    "js": "text/javascript",
    "json": "application/json",
    "jsonld": "application/ld+json",
    "map": "application/json",
    "md": "text/markdown",
    "mjs": "text/javascript",
    "mp3": "audio/mpeg",
    "mp4": "video/mp4",
    "oga": "audio/ogg",
    "ogg": "audio/ogg",
    "ogv": "video/ogg",
    "otf": "font/otf",
    "pdf": "application/pdf",
    "png": "image/png",
    "ps": "application/postscript",
    "rss": "application/rss+xml",
    "rst": "text/x-rst",
    "svg": "image/svg+xml",
    "tar": "application/x-tar",
    "tif": "image/tiff",
    "tiff": "image/tiff",
    "toml": "application/toml",
    "ttf": "font/ttf",
    "txt": "text/plain",
    "vtt": "text/vtt",
    "wasm": "application/wasm",
    "wav": "audio/wav",
    "webm": "video/webm",
    "webmanifest": "application/manifest+json",
    "webp": "image/webp",
    "woff": "font/woff",
    "woff2": "font/woff2",
    "xhtml": "application/xhtml+xml",
    "xml": "application/xml",
    "xsl": "application/xml",
    "yaml": "application/yaml",
    "yml": "application/yaml",
    "zip": "application/zip",
}


def media_type_of(path: str) -> str:
    name, dot, end = path.rpartition("/")[2].rpartition(".")
    return _TYPES.get(end.lower(), "application/octet-stream") if dot and name else "application/octet-stream"


def media_type_of_file(path: str, source: Path) -> str:
    """As `media_type_of`; but a page that names another encoding than UTF-8, as those of older tools do, keeps it."""
    media_type = media_type_of(path)
    if media_type != "text/html":
        return media_type
    with source.open("rb") as page:
        named = _CHARSET.search(page.read(_HEAD))
    charset = named[1].decode().lower() if named else "utf-8"
    return media_type if charset in _UNICODE else f"{media_type}; charset={charset}"
