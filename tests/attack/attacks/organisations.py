"""Attacks of one organisation on another: the second is served while the first floods the service."""

import asyncio
import contextlib
import time

from tests.attack.attacks.pages import SLOW_DOT
from tests.attack.http_client import FORM_HEADERS, form_body
from tests.attack.measure import Attacker
from tests.attack.registry import SUBMITTER, Attacks

FLOOD = 80  # heavy renders; more than may run and wait
SERVED_WITHIN = 90.0  # seconds; a heavy render may use its press for half a minute

attacks = Attacks()


def _slow_dot(number: int) -> str:
    return SLOW_DOT.replace("rankdir=LR;", f"rankdir=LR; flood{number};")


@attacks.add("render-flood", SUBMITTER)
async def render_flood(attacker: Attacker) -> None:
    """One organisation sends 80 heavy renders; the small one of the other is accepted and made."""
    flooder, other = attacker.token("submitter"), attacker.token("submitter", "globex")
    uids, statuses = [], set()
    for number in range(FLOOD):
        answer = await attacker.http.submit(flooder, {"source": _slow_dot(number), "format": "dot"}, "/render")
        statuses.add(answer.status)
        if answer.status == 202:
            uids.append(answer.json()["jobId"])
    attacker.check(statuses <= {202, 429}, f"the flood was answered with {sorted(statuses)}")
    began = time.monotonic()
    small = {"source": "digraph { small -> one }", "format": "dot"}
    answer = attacker.expect(await attacker.http.submit(other, small, "/render"), 202, what="the other's small render")
    try:
        if answer.status == 202:
            await _completed(attacker, answer.json()["jobId"], other)
            took = time.monotonic() - began
            attacker.check(took < SERVED_WITHIN, f"the other's small render took {took:.0f} s")
    finally:
        for uid in uids:
            await attacker.http.request("POST", f"/jobs/{uid}/cancel", token=attacker.token("operator"))


@attacks.add("job-flood", SUBMITTER)
async def job_flood(attacker: Attacker) -> None:
    """The same by POST /jobs, both in the interactive tier."""
    flooder, other = attacker.token("submitter"), attacker.token("submitter", "globex")
    uids = []
    for number in range(FLOOD):
        payload = {"language": "dot", "output": "svg", "source": _slow_dot(number + FLOOD)}
        answer = await attacker.http.submit(flooder, {"kind": "render", "payload": payload, "tier": "interactive"})
        attacker.expect(answer, 202, 429, 503)
        if answer.status == 202:
            uids.append(answer.json()["id"])
    began = time.monotonic()
    payload = {"language": "dot", "output": "svg", "source": "digraph { small -> two }"}
    answer = attacker.expect(
        await attacker.http.submit(other, {"kind": "render", "payload": payload, "tier": "interactive"}), 202
    )
    try:
        if answer.status == 202:
            await _completed(attacker, answer.json()["id"], other)
            took = time.monotonic() - began
            attacker.check(took < SERVED_WITHIN, f"the other's small job took {took:.0f} s")
    finally:
        for uid in uids:
            await attacker.http.request("POST", f"/jobs/{uid}/cancel", token=attacker.token("operator"))


async def _completed(attacker: Attacker, uid: str, token: str) -> None:
    for _ in range(4):
        shown = (await attacker.http.request("GET", f"/jobs/{uid}?wait=30", token=token)).json()
        if shown["status"] == "completed":
            return
    attacker.objections.append(f"the other's job is {shown['status']}")


@attacks.add("preview-flood", SUBMITTER)
async def preview_flood(attacker: Attacker) -> None:
    """One organisation sends 40 slow previews and waits for them; a preview of the other is made, not refused."""
    quick = {"language": "dot", "output": "svg", "source": "digraph { quick }", "action": "preview", "previous": "0"}
    slow = {"/playground/preview": quick | {"source": SLOW_DOT}, "/wiki/Home": quick | {"source": f"```dot\n{SLOW_DOT}\n```\n"}}
    for path, fields in slow.items():
        body = form_body(fields)
        head = attacker.http.head("POST", path, token=attacker.token("submitter"), headers=FORM_HEADERS, length=len(body))
        async with contextlib.AsyncExitStack() as stack:
            for _ in range(40):
                _, writer = await stack.enter_async_context(attacker.http.connect())
                writer.write(head + body)
                await writer.drain()
            await asyncio.sleep(2)
            answer = await attacker.http.form(attacker.token("submitter", "globex"), path, quick | {"source": "digraph { q }"})
            attacker.expect(answer, 200, what=f"the other's preview at {path}")


@attacks.add("foreign-rows", SUBMITTER)
async def foreign_rows(attacker: Attacker) -> None:
    """Articles, diagrams and jobs of one organisation do not exist for the other."""
    body = b'{"source": "digraph { secret }", "format": "dot"}'
    headers = {"Content-Type": "application/json"}
    answer = await attacker.http.request(
        "PUT", "/diagrams/secret?mode=sync", token=attacker.token("submitter"), headers=headers, body=body
    )
    attacker.expect(answer, 200, 201, 202)
    attacker.expect(
        await attacker.http.form(attacker.token("submitter"), "/wiki/Secret", {"source": "secret", "previous": "0"}), 303
    )
    for path in ("/diagrams/secret", "/a/secret.svg", "/wiki/Secret", "/wiki/Secret.md", "/wiki/Secret?history"):
        answer = await attacker.http.request("GET", path, token=attacker.token("operator", "globex"))
        attacker.expect(answer, 404, what=path)
