"""The sites that the lab builds: small, and every file tells which build it is of."""

import gzip
import hashlib
import io
import re
import tarfile
from dataclasses import dataclass

POINTED = "lab"  # its readers are served by an edge, by what the database says
COPIED = "copied"  # its sites are copied to a folder, and read there
PROJECTS = {"guide": POINTED, "manual": POINTED, "notes": COPIED}  # with their organisations
SITES = "sites"  # the folder of copied sites, in that of the lab
REF = "main"
PAGE = "page.html"  # every build has it
ASSET = "_static/style.css"
SHARED = "_static/shared.js"  # the same bytes in every build
NONCE = re.compile(rb"nonce-([0-9a-f]{16})")


@dataclass(frozen=True)
class Archive:
    data: bytes
    content_hash: str


def build_archive(nonce: str, *, is_broken: bool = False) -> Archive:
    """A broken one ends in the middle; its hash is that of what is sent."""
    text = f'<html><link rel="stylesheet" href="{ASSET}"><body>nonce-{nonce}'
    files = {
        "index.html": f"{text} <a href='{PAGE}'>page</a>",
        PAGE: f"{text} <a href='./'>home</a>",
        f"guide/deep/{nonce}.html": text.replace(ASSET, f"../../{ASSET}"),
        ASSET: f"/* nonce-{nonce} */",
        SHARED: "// the same in every build\n" * 50,
    }
    tar = io.BytesIO()
    with tarfile.open(fileobj=tar, mode="w") as archive:
        for name, content in files.items():
            data = content.encode()
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    packed = gzip.compress(tar.getvalue(), mtime=0)
    data = packed[: len(packed) // 2] if is_broken else packed
    return Archive(data, f"sha256:{hashlib.sha256(data).hexdigest()}")


def nonce_of(body: bytes) -> str | None:
    found = NONCE.search(body)
    return None if found is None else found[1].decode()
