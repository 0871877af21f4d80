"""The media type of a file by the end of its name. Not from the tables of the machine: each worker must say the same."""

import re
from pathlib import Path

_CHARSET_WITHIN = 1024  # bytes of a page, as browsers do
_META_CHARSET = re.compile(rb"<meta[^>]{0,200}charset\s*=\s*[\"']?\s*([A-Za-z0-9_.:-]{1,40})", re.IGNORECASE)
_UTF_16 = ("utf-16", "utf-16le", "utf-16be")

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
        charset = charset_of(page.read(_CHARSET_WITHIN))
    return media_type if charset in ("utf-8", "utf8") else f"{media_type}; charset={charset}"


def charset_of(page: bytes) -> str:
    """The encoding that a page names, in lower case; UTF-8 if it names none.

    A page that names UTF-16 and could be read so far is in UTF-8, says HTML.
    """
    named = _META_CHARSET.search(page[:_CHARSET_WITHIN])
    charset = named[1].decode().lower() if named else "utf-8"
    return "utf-8" if charset in _UTF_16 else charset
