"""One warm Node process that draws for an engine process: four bytes of length and JSON in each direction.

It is a child of the engine process and inherits its confinement. The switches below are a second layer, for machines whose
kernel lacks the first: Node's own permission model leaves it the files named here, no children and no workers; and no text
becomes code, which matters most for bytefield, whose sources can get hold of the Function constructor.
"""

import os
import struct
import subprocess
import tempfile
from pathlib import Path
from typing import IO, Any

import msgspec

from pressroom.errors import EngineCrashed, EngineMissing, TooLarge
from pressroom.renderers import Limits, fonts
from pressroom.renderers.node import installation as node_places
from pressroom.renderers.sandbox.confinement import die_with_parent

LENGTH = struct.Struct(">I")
STDERR_KEPT = 2048


class Sidecar:
    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._said = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the process
        # Not only the end of its input ends it: a Node that is busy does not look. When the engine process is killed, so is
        # Node.
        self._process = subprocess.Popen(  # noqa: S603
            _command(limits),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
            # It reads OpenSSL's settings before anything else, and ends when it may not.
            env={"TZ": "UTC", "LANG": "C.UTF-8", "OPENSSL_CONF": os.devnull},
            preexec_fn=die_with_parent,
        )

    @property
    def pid(self) -> int:
        return self._process.pid

    def request(self, request: dict[str, Any]) -> dict[str, Any]:
        """Its answer. Afterwards, if this raises, the process is of no more use."""
        assert self._process.stdin
        body = msgspec.json.encode(request)
        try:
            self._process.stdin.write(LENGTH.pack(len(body)) + body)
            self._process.stdin.flush()
        except OSError:
            raise self._crash_error() from None
        (length,) = LENGTH.unpack(self._read(LENGTH.size))
        if length > 2 * self._limits.output:  # JSON doubles an SVG at the worst: every quotation mark is escaped
            raise TooLarge(f"the picture is larger than {self._limits.output:,} bytes")
        answer: dict[str, Any] = msgspec.json.decode(self._read(length), type=dict[str, Any])
        return answer

    def terminate(self) -> None:
        process = self._process
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout, self._said):
            _close(pipe)

    def _read(self, size: int) -> bytes:
        assert self._process.stdout
        data = self._process.stdout.read(size)
        if len(data) < size:
            raise self._crash_error()
        return data

    def _crash_error(self) -> EngineCrashed | TooLarge:
        code = self._process.wait()
        self._said.seek(0)
        last_words = self._said.read(STDERR_KEPT).decode(errors="replace").strip()
        if "heap out of memory" in last_words:
            return TooLarge("the source needs more memory than a render may have")
        return EngineCrashed(f"node ended with {code}: {last_words or 'it said nothing'}")


def _command(limits: Limits) -> list[str]:
    binary = node_places.find_node()
    if binary is None and os.environ.get("PRESSROOM_NODE"):  # it was there when the engine process was started
        raise EngineCrashed("Node.js could not be asked for its version")
    if binary is None:
        raise EngineMissing(f"Node.js was not found; {node_places.GET_NODE}")
    packages = node_places.packages_folder().resolve()
    readable = (node_places.SCRIPTS.resolve(), packages, fonts.FOLDER.resolve())
    return [
        str(binary),
        *_permission_flags(node_places.node_version(binary), readable),
        "--disallow-code-generation-from-strings",
        "--disable-proto=delete",
        "--no-addons",
        "--no-warnings",
        f"--max-old-space-size={limits.memory // 2 // 1024**2}",  # the rest is for WebAssembly and Node itself
        str(readable[0] / "sidecar.mjs"),
        *(str(folder) for folder in readable[1:]),
        str(limits.output),
    ]


def _permission_flags(version: tuple[int, int], readable: tuple[Path, ...]) -> list[str]:
    settled = version >= (23, 5) or (22, 13) <= version < (23, 0)
    return [
        "--permission" if settled else "--experimental-permission",
        *(f"--allow-fs-read={folder}/*" for folder in readable),
    ]


def _close(pipe: IO[bytes] | None) -> None:
    try:
        if pipe:
            pipe.close()
    except BrokenPipeError:  # half a request was waiting in it
        pass
