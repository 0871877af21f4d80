"""The inside of a press: shut the door, load one engine, render what comes through the slot.

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
from pressroom.renderers import Engine, place
from pressroom.renderers.box import prepared
from pressroom.renderers.box.confine import confine
from pressroom.renderers.box.wire import Failed, Frames, Made, Order, Ready, Report, failed, frame, orders

CURSOR = struct.Struct("<QQ")  # the order it is at, and when it began, in nanoseconds of the machine's monotonic clock

_READ = 1024 * 1024
WARM_UP = 150.0  # seconds for the sample
_HOLD_BACK = 0.0005  # seconds that a finished answer may wait for the next one
_HOLD_BACK_BYTES = 256 * 1024


def main(what: dict[str, Any]) -> None:
    wire_in, wire_out = _keep_the_wire_private()
    cursor = mmap.mmap(os.open(what["cursor"], os.O_RDWR), CURSOR.size)
    shared = _taken(what["prepared"])
    layers = confine(what["reads"], what["writes"])
    try:
        engine = _load(what["module"], what["engine"], shared)
        _warm_up(engine)
    except BaseException as error:
        _send(wire_out, frame(_told(0, error)))
        return
    _send(wire_out, frame(Ready(layers)))
    try:
        _serve(engine, wire_in, wire_out, cursor)
    finally:
        engine.close()


def _keep_the_wire_private() -> tuple[int, int]:
    """What a library prints must not get between the answers, and what it starts must not hear the orders."""
    wire_in, wire_out = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    return wire_in, wire_out


def _taken(memory: int | None) -> bytes | None:
    if memory is None:
        return None
    try:
        return prepared.read(memory)
    finally:
        os.close(memory)


def _warm_up(engine: Engine) -> None:
    """Render the sample, which also loads what is loaded only once. A busy machine may take longer for that than a source has;
    the whole start has a limit of its own, which is watched from outside.
    """
    vars(engine)["limits"] = replace(engine.limits, seconds=WARM_UP)
    try:
        _render(engine, Order(0, engine.makes[0], {}, engine.sample.encode()))
    finally:
        del vars(engine)["limits"]


def _load(module: str, name: str, shared: bytes | None) -> Engine:
    engine: type[Engine] = getattr(importlib.import_module(module), name)
    engine.prepared = shared
    return engine()


def _serve(engine: Engine, wire_in: int, wire_out: int, cursor: mmap.mmap) -> None:
    frames = Frames(limit=2**31)
    answers = bytearray()
    while data := os.read(wire_in, _READ):
        waiting = frames.feed(data)
        since = time.monotonic()
        for body in waiting:
            order = orders.decode(body)
            CURSOR.pack_into(cursor, 0, order.number, time.monotonic_ns())
            answers += frame(_answer(engine, order))
            CURSOR.pack_into(cursor, 0, 0, 0)
            if len(answers) > _HOLD_BACK_BYTES or time.monotonic() - since > _HOLD_BACK:
                _send(wire_out, answers)
                answers.clear()
                since = time.monotonic()
            if engine.spoiled:
                break  # what is still waiting is handed to another press
        _send(wire_out, answers)
        answers.clear()
        if engine.spoiled:
            return


def _answer(engine: Engine, order: Order) -> Report:
    try:
        return _render(engine, order)
    except BaseException as error:
        return _told(order.number, error)


def _render(engine: Engine, order: Order) -> Made:
    source = _text(order.source)
    try:
        options = msgspec.convert(order.options, engine.Options)
    except msgspec.ValidationError as reason:
        raise SourceInvalid(f"option: {reason}") from None
    began = time.perf_counter()
    rendered = engine.render(source, order.output, options)
    seconds = time.perf_counter() - began
    if len(rendered.data) > engine.limits.output:
        raise TooLarge(f"the {order.output} has {len(rendered.data):,} bytes; the limit is {engine.limits.output:,}")
    return Made(order.number, rendered.data, rendered.media_type, [*rendered.warnings], rendered.details, seconds)


def _text(source: bytes) -> str:
    try:
        return source.decode("utf-8").removeprefix("\N{BYTE ORDER MARK}")
    except UnicodeDecodeError as wrong:
        before = source[: wrong.start].decode()
        line, column = place.line_and_column(before, len(before))
        message = f"the source is not UTF-8: byte 0x{source[wrong.start]:02x} at offset {wrong.start}"
        raise SourceInvalid(message, line=line, column=column) from None


def _told(number: int, error: BaseException) -> Failed:
    """What may be said outside: our own errors in their words, others by their name alone. Rust's panics are not Exceptions."""
    if isinstance(error, PressroomError):
        return failed(number, error)
    if isinstance(error, MemoryError):
        return failed(number, TooLarge("the source needs more memory than a render may have"))
    if isinstance(error, RecursionError):
        return failed(number, TooLarge("the source is nested too deeply"))
    traceback.print_exception(error)
    return failed(number, EngineCrashed(f"the engine failed with {type(error).__name__}; its log has the details"))


def _send(wire: int, data: bytes | bytearray) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(wire, view) :]
