"""The inside of an engine process: confine it, load one engine, render what arrives.

Runs as a process of its own. It answers in batches when work is waiting, so that a thousand small documents do not cost a
thousand wake-ups, and notes in shared memory which order it is at: if it dies, the one it died of is known exactly.
"""

import importlib
import mmap
import os
import struct
import time
import traceback
from dataclasses import replace
from typing import Any

import msgspec

from pressroom.errors import EngineCrashed, PressroomError, SourceInvalid, TooLarge
from pressroom.renderers import Engine, source_errors
from pressroom.renderers.sandbox import shared_memory
from pressroom.renderers.sandbox.confinement import confine, limit_memory
from pressroom.renderers.sandbox.protocol import (
    ChildMessage,
    EngineRequest,
    FrameDecoder,
    ProcessReady,
    RenderFailure,
    RenderSuccess,
    encode_frame,
    failed_message,
    request_decoder,
)

CURSOR = struct.Struct("<QQ")  # the order it is at, and when it began, in nanoseconds of the machine's monotonic clock

_READ_SIZE = 1024 * 1024
WARM_UP_TIMEOUT = 150.0  # seconds for the sample
_BATCH_SECONDS = 0.0005  # seconds that a finished answer may wait for the next one
_BATCH_BYTES = 256 * 1024


def main(instructions: dict[str, Any]) -> None:
    pipe_in, pipe_out = _redirect_standard_streams()
    cursor = mmap.mmap(os.open(instructions["cursor"], os.O_RDWR), CURSOR.size)
    shared = _read_and_close(instructions["prepared"])
    layers = confine(instructions["reads"], instructions["writes"])
    try:
        engine = _load_engine(instructions["module"], instructions["engine"], shared)
        if engine.limits.strict_memory:
            limit_memory(engine.limits.memory)
        _render_sample(engine)
    except BaseException as error:
        _write_all(pipe_out, encode_frame(_failure_message(0, error)))
        return
    _write_all(pipe_out, encode_frame(ProcessReady(layers)))
    try:
        _serve_requests(engine, pipe_in, pipe_out, cursor)
    finally:
        engine.close()


def _redirect_standard_streams() -> tuple[int, int]:
    """What a library prints must not get between the answers, and what it starts must not hear the orders."""
    pipe_in, pipe_out = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    return pipe_in, pipe_out


def _read_and_close(memory: int | None) -> bytes | None:
    if memory is None:
        return None
    try:
        return shared_memory.read_memory(memory)
    finally:
        os.close(memory)


def _render_sample(engine: Engine) -> None:
    """Render the sample, which also loads what is loaded only once. A busy machine may take longer for that than a source has;
    the whole start has a limit of its own, which is watched from outside.
    """
    vars(engine)["limits"] = replace(engine.limits, seconds=WARM_UP_TIMEOUT)
    try:
        _render(engine, EngineRequest(0, engine.makes[0], {}, engine.sample.encode()))
    finally:
        del vars(engine)["limits"]


def _load_engine(module: str, name: str, shared: bytes | None) -> Engine:
    engine: type[Engine] = getattr(importlib.import_module(module), name)
    engine.prepared = shared
    return engine()


def _serve_requests(engine: Engine, pipe_in: int, pipe_out: int, cursor: mmap.mmap) -> None:
    frames = FrameDecoder(limit=2**31)
    answers = bytearray()
    while data := os.read(pipe_in, _READ_SIZE):
        waiting = frames.feed(data)
        since = time.monotonic()
        for body in waiting:
            request = request_decoder.decode(body)
            CURSOR.pack_into(cursor, 0, request.number, time.monotonic_ns())
            answers += encode_frame(_handle_request(engine, request))
            CURSOR.pack_into(cursor, 0, 0, 0)
            if len(answers) > _BATCH_BYTES or time.monotonic() - since > _BATCH_SECONDS:
                _write_all(pipe_out, answers)
                answers.clear()
                since = time.monotonic()
            if engine.spoiled:
                break  # what is still waiting is handed to another engine process
        _write_all(pipe_out, answers)
        answers.clear()
        if engine.spoiled:
            return


def _handle_request(engine: Engine, request: EngineRequest) -> ChildMessage:
    try:
        return _render(engine, request)
    except BaseException as error:
        return _failure_message(request.number, error)


def _render(engine: Engine, request: EngineRequest) -> RenderSuccess:
    source = request.source if engine.takes_bytes else _decode_source(request.source)
    try:
        options = msgspec.convert(request.options, engine.Options)
    except msgspec.ValidationError as reason:
        raise SourceInvalid(f"option: {reason}") from None
    began = time.perf_counter()
    rendered = engine.render(source, request.output, options)
    seconds = time.perf_counter() - began
    if len(rendered.data) > engine.limits.output:
        raise TooLarge(f"the {request.output} has {len(rendered.data):,} bytes; the limit is {engine.limits.output:,}")
    return RenderSuccess(request.number, rendered.data, rendered.media_type, [*rendered.warnings], rendered.details, seconds)


def _decode_source(source: bytes) -> str:
    try:
        return source.decode("utf-8").removeprefix("\N{BYTE ORDER MARK}")
    except UnicodeDecodeError as wrong:
        before = source[: wrong.start].decode()
        line, column = source_errors.line_and_column(before, len(before))
        message = f"the source is not UTF-8: byte 0x{source[wrong.start]:02x} at offset {wrong.start}"
        raise SourceInvalid(message, line=line, column=column) from None


def _failure_message(number: int, error: BaseException) -> RenderFailure:
    """What may be said outside: our own errors in their words, others by their name alone. Rust's panics are not Exceptions."""
    if isinstance(error, PressroomError):
        return failed_message(number, error)
    if isinstance(error, MemoryError):
        return failed_message(number, TooLarge("the source needs more memory than a render may have"))
    if isinstance(error, RecursionError):
        return failed_message(number, TooLarge("the source is nested too deeply"))
    traceback.print_exception(error)
    return failed_message(number, EngineCrashed(f"the engine failed with {type(error).__name__}; its log has the details"))


def _write_all(pipe: int, data: bytes | bytearray) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(pipe, view) :]
