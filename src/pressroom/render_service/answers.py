"""A PDF as a response."""

import asyncio
import base64
import hashlib
import json
from collections.abc import Mapping, Sequence

import msgspec
from starlette.responses import Response

from pressroom.renderers import Notice, Rendered

NOTICES_LIMIT = 4096  # bytes of the header
HASHED_IN_THREAD = 1024 * 1024  # bytes from which on a hash takes long enough to be made in a thread


async def pdf_response(rendered: Rendered, headers: Mapping[str, str] | None = None) -> Response:
    data = rendered.data
    digest = await asyncio.to_thread(_digest, data) if len(data) > HASHED_IN_THREAD else _digest(data)
    told = {
        "Content-Digest": f"sha-256=:{digest}:",
        "Pressroom-Warnings": str(len(rendered.warnings)),
        "Cache-Control": "no-store",
        **(headers or {}),
    }
    if "pages" in rendered.details:
        told["Pressroom-Pages"] = str(rendered.details["pages"])
    if "engines" in rendered.details:
        told["Pressroom-Engines"] = json.dumps(rendered.details["engines"])
    if rendered.warnings:
        told["Pressroom-Notices"] = _notices(rendered.warnings)
    return Response(data, 200, told, "application/pdf")


def _digest(data: bytes) -> str:
    return base64.b64encode(hashlib.sha256(data).digest()).decode()


def _notices(warnings: Sequence[Notice]) -> str:
    """As JSON in ASCII: the first ones that fit into a header."""
    told: list[str] = []
    size = 2
    for one in warnings:
        text = json.dumps(msgspec.to_builtins(one))
        size += len(text) + 2
        if size > NOTICES_LIMIT:
            break
        told.append(text)
    return f"[{', '.join(told)}]"
