"""The process that unpacks one archive: confined to a folder, without network, with a limit on its memory.

Reads the archive from its standard input. Writes one message of JSON to its standard output: the files, or an error.
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
    answer = _unpack(Path(instructions["folder"]), ArchiveLimits(instructions["files"], instructions["size"]))
    with os.fdopen(out, "wb") as file:
        file.write(msgspec.json.encode(answer))


def _unpack(folder: Path, limits: ArchiveLimits) -> Unpacked:
    try:
        return Unpacked(unpack(sys.stdin.buffer, folder, limits))
    except SourceInvalid as refusal:
        return Unpacked(code=refusal.code, message=str(refusal))
    except OSError as reason:
        return Unpacked(errno=reason.errno or EIO)
    except (MemoryError, RecursionError):
        return Unpacked(code=TooLarge.code, message="the archive needs more memory than unpacking may take")
