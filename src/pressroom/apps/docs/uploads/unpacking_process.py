"""The process that unpacks one archive: confined to a folder, without network, with a limit on its memory.

Reads the archive from its standard input, and a file with digests of files that need not be written, if it is named. Writes one
message of JSON to its standard output: the files, or an error.
"""

import os
import sys
from errno import EIO
from pathlib import Path
from typing import Any

import msgspec

from pressroom.apps.docs.uploads.archive import ArchiveLimits, UnpackedFile, unpack
from pressroom.errors import SourceInvalid, TooLarge
from pressroom.renderers.sandbox.confinement import confine, limit_memory

DIGEST_BYTES = 32


class Unpacked(msgspec.Struct, frozen=True):
    files: list[UnpackedFile] = []
    code: str = ""
    message: str = ""
    errno: int = 0  # why a file could not be written


def main(instructions: dict[str, Any]) -> None:
    confine(instructions["reads"], instructions["writes"], file_size=instructions["size"])
    limit_memory(instructions["memory"])
    out = os.dup(1)
    os.dup2(2, 1)
    limits = ArchiveLimits(instructions["files"], instructions["size"])
    answer = _unpack(Path(instructions["folder"]), limits, instructions.get("known", ""))
    with os.fdopen(out, "wb") as file:
        file.write(msgspec.json.encode(answer))


def _unpack(folder: Path, limits: ArchiveLimits, known: str) -> Unpacked:
    try:
        return Unpacked(unpack(sys.stdin.buffer, folder, limits, _read_digests(Path(known)) if known else frozenset()))
    except SourceInvalid as refusal:
        return Unpacked(code=refusal.code, message=str(refusal))
    except OSError as reason:
        return Unpacked(errno=reason.errno or EIO)
    except (MemoryError, RecursionError):
        return Unpacked(code=TooLarge.code, message="the archive needs more memory than unpacking may take")


def _read_digests(file: Path) -> set[bytes]:
    digests = file.read_bytes()
    return {digests[start : start + DIGEST_BYTES] for start in range(0, len(digests), DIGEST_BYTES)}
