"""The HTTP interface of documentation sites, for commands: JSON with retries, and an archive that is streamed."""

import asyncio
from collections.abc import Mapping
from itertools import count
from typing import IO, Any
from urllib.parse import quote, urljoin, urlsplit

import httpx
import msgspec

from pressroom.apps.docs.commands.job_progress import EndedJob
from pressroom.apps.docs.commands.upload_targets import read_archive
from pressroom.client import AsyncClient, InvalidAnswer, RetryPolicy, Unreachable, httpx_adapter
from pressroom.client.address import Address
from pressroom.client.exchange import HttpAnswer, HttpCall
from pressroom.client.retries import send_with_retries
from pressroom.errors import PressroomError, Refused
from pressroom.model import Status

UPLOAD_TIMEOUT = 120.0  # seconds in which nothing moves


class UploadRefused(Refused):
    """What keeps archives did not take this one: an object store, whose words are not ours."""

    code = "upload_refused"
    status = 502


class DocsClient(AsyncClient):
    """`request` raises what the service answers, as every client of ours does."""

    async def request(self, method: str, path: str, body: Any = None, params: Mapping[str, Any] | None = None) -> Any:
        given = tuple((name, str(value)) for name, value in (params or {}).items() if value not in (None, ""))
        encoded = None if body is None else msgspec.json.encode(body)
        headers = {} if body is None else {"Content-Type": "application/json"}
        answer = await self._send(HttpCall(method, path, params=given, headers=headers, body=encoded))
        if not answer.body:
            return None
        try:
            return msgspec.json.decode(answer.body)
        except (msgspec.DecodeError, UnicodeDecodeError):
            raise InvalidAnswer(f"{self.url} answered with something that is not JSON; is it a Pressroom?") from None

    async def put_archive(self, url: str, archive: IO[bytes], size: int) -> None:
        """To the address that the service named, which may be that of an object store. It brings its own permission, so that no
        token is sent to it."""
        address = Address(urljoin(f"{self.url}/", url), None)
        options = httpx_adapter.httpx_client_options(address, UPLOAD_TIMEOUT) | {"base_url": ""}
        async with httpx.AsyncClient(**options) as http:
            for failures in count(1):
                error, pause = await self._put_once(http, address.url, archive, size, failures)
                if error is None:
                    return
                if pause is None or failures > self._retry_policy.retries:
                    raise error
                await asyncio.sleep(pause)

    async def read_end(self, job: str) -> EndedJob:
        """How a job ended, in the words of design 004."""
        return _read_end(await self.request("GET", path_of("queue", "jobs", job)))

    async def _send(self, call: HttpCall) -> HttpAnswer:
        try:
            answer: HttpAnswer = await self._run(send_with_retries(call, self._retry_policy))
        except PressroomError as error:
            raise _with_listed_detail(error) from None
        return answer

    async def _put_once(
        self, http: httpx.AsyncClient, url: str, archive: IO[bytes], size: int, failures: int
    ) -> tuple[PressroomError | None, float | None]:
        """What went wrong, and after how many seconds it may go well."""
        policy: RetryPolicy = self._retry_policy
        headers = {"Content-Type": "application/gzip", "Content-Length": str(size)}
        try:
            response = await http.put(url, content=read_archive(archive), headers=headers)
        except httpx.TransportError as reason:
            host = urlsplit(url).netloc
            return Unreachable(f"the upload to {host} broke: {reason or type(reason).__name__}"), policy.pause(failures)
        if response.status_code < 300:
            return None, None
        answer = httpx_adapter.to_answer(response, response.content)
        return _upload_error(answer), policy.pause_after(answer, failures)


def path_of(*parts: str) -> str:
    """`path_of("orgs", "acme")` is `/orgs/acme`."""
    return "".join(f"/{quote(part, safe='')}" for part in parts)


def _upload_error(answer: HttpAnswer) -> PressroomError:
    from pressroom.client.errors import error_from_answer, is_problem

    if is_problem(answer):
        return _with_listed_detail(error_from_answer(answer))
    words = " ".join(answer.body[:500].decode("utf-8", "replace").split())
    return UploadRefused(f"the store answered {answer.status} to the upload: {words}"[:400])


def _with_listed_detail(error: PressroomError) -> PressroomError:
    """`detail` is a list of `{type, msg, loc}` on these routes; people read its messages."""
    detail = vars(error).get("problem", {}).get("detail")
    if isinstance(detail, list):
        texts = [str(one.get("msg", one)) if isinstance(one, dict) else str(one) for one in detail]
        error.args = ("; ".join(texts) or "the service refused it",)
    return error


def _read_end(job: Any) -> EndedJob:
    try:
        errors = job["errors"]  # `{message, type, attempts}`, whose type is the code
        error = None if errors is None else {"code": errors.get("type"), "message": errors.get("message", "")}
        return EndedJob(id=job["id"], kind=job["kind"], status=Status(job["status"]), error=error)
    except (KeyError, TypeError, ValueError, AttributeError):
        raise InvalidAnswer("the service answered with something that is not a job") from None
