"""Attacks on what a caller may do: internal kinds, forged actors, foreign rows, caches, revoked tokens."""

import asyncio

from pressroom.api.access import Scope
from tests.attack.http_client import SHORT, read_answer
from tests.attack.measure import Attacker
from tests.attack.registry import ANONYMOUS, SUBMITTER, VIEWER, Attacks

DOT = {"language": "dot", "output": "svg", "source": "digraph { access }"}

attacks = Attacks()


@attacks.add("no-token", ANONYMOUS)
async def no_token(attacker: Attacker) -> None:
    """Whatever needs a token is 401, or leads to the login; forwarded headers change nothing."""
    for path in ("/jobs", "/events", "/diagrams", "/webhooks", "/workers", "/queue/backlog", "/metrics"):
        for headers in ({}, {"X-Forwarded-For": "127.0.0.1"}, {"Forwarded": "for=127.0.0.1"}, {"X-Real-IP": "127.0.0.1"}):
            answer = await attacker.http.request("GET", path, headers=headers, within=SHORT)
            attacker.expect(answer, 401, what=path)
    for path in ("/desk", "/desk/jobs", "/wiki/Home", "/playground", "/desk/tokens"):
        attacker.expect(await attacker.http.request("GET", path, within=SHORT), 303, what=path)
    for path in ("/jobs", "/render?format=dot", "/queue/render/pause", "/webhooks"):
        attacker.expect(await attacker.http.request("POST", path, body=b"{}", within=SHORT), 401, what=path)


@attacks.add("internal-kinds", SUBMITTER)
async def internal_kinds(attacker: Attacker) -> None:
    """Pressroom's own kinds, with a forged actor too, submitted over HTTP by any scope: 403."""
    jobs = (
        {"kind": "wiki.rerender", "payload": {"which": "all"}},
        {"kind": "wiki.render", "payload": {"article": 1, "revision": 1}},
        {"kind": "desk.bulk", "payload": {"action": "cancel", "actor": "root", "org_id": "globex", "filter": {}}},
        {"kind": "webhook", "payload": {"url": "http://127.0.0.1:1/"}},
    )
    for scope in ("viewer", "submitter", "operator"):
        for job in jobs:
            attacker.expect(await attacker.http.submit(attacker.token(scope), job), 403, what=f"{scope} {job['kind']}")


@attacks.add("forged-actor", SUBMITTER)
async def forged_actor(attacker: Attacker) -> None:
    """Fields that say who submits, for which organisation: refused; the job is the token's organisation's."""
    for field in ("org_id", "org", "actor", "author", "trace", "status", "id", "parent"):
        job = {"kind": "render", "payload": DOT, field: "globex"}
        attacker.expect(await attacker.http.submit(attacker.token("submitter"), job), 422, what=field)
    answer = await attacker.http.submit(
        attacker.token("submitter"), {"kind": "render", "payload": DOT}, headers={"X-Org-Id": "globex"}
    )
    attacker.expect(answer, 202)
    uid = answer.json()["id"]
    for method, path in (("GET", f"/jobs/{uid}"), ("POST", f"/jobs/{uid}/cancel"), ("POST", f"/jobs/{uid}/retry")):
        answer = await attacker.http.request(method, path, token=attacker.token("operator", "globex"), within=SHORT)
        attacker.expect(answer, 404, what=f"another organisation's {method} {path}")


@attacks.add("beyond-scope", VIEWER)
async def beyond_scope(attacker: Attacker) -> None:
    """What a viewer and a submitter of one organisation may not do: 403."""
    job = {"kind": "render", "payload": DOT}
    viewer, submitter = attacker.token("viewer"), attacker.token("submitter")
    attacker.expect(await attacker.http.submit(viewer, job), 403)
    attacker.expect(await attacker.http.submit(viewer, {"source": "digraph { v }", "format": "dot"}, "/render"), 403)
    attacker.expect(await attacker.http.form(viewer, "/wiki/Home", {"source": "x", "previous": "0"}), 403)
    for token in (viewer, submitter, attacker.token("operator")):
        attacker.expect(await attacker.http.submit(token, {}, "/queue/render/pause"), 403, what="pause")
    for path in ("/desk/tokens", "/desk/audit"):
        attacker.expect(await attacker.http.request("GET", path, token=submitter), 403, what=path)


@attacks.add("private-caching", VIEWER)
async def private_caching(attacker: Attacker) -> None:
    """Bytes that need a token are `private`, and `nosniff` is on every answer."""
    job = {"kind": "render", "payload": DOT}
    made = attacker.expect(await attacker.http.submit(attacker.token("submitter"), job), 202)
    path = f"/jobs/{made.json()['id']}?wait=30"
    shown = (await attacker.http.request("GET", path, token=attacker.token("viewer"))).json()
    uid = shown["result"]["artifact"]
    for target in (f"/artifacts/{uid}", "/kroki/graphviz/svg/eNpLyUwvSizIUHBXqPZIzcnJ17ULzy_KSakFAGxACMY=", "/wiki/Warm_up"):
        answer = attacker.expect(
            await attacker.http.request("GET", target, token=attacker.token("submitter")), 200, what=target
        )
        cache = answer.headers.get("cache-control", "")
        attacker.check("private" in cache or "no-store" in cache, f"{target}: Cache-Control is {cache!r}")
    attacker.expect(await attacker.http.request("GET", f"/artifacts/{uid}", token=attacker.token("viewer", "globex")), 404)
    attacker.expect(await attacker.http.request("GET", f"/artifacts/{uid}"), 401)
    for target in ("/livez", "/nowhere", "/jobs", "/desk/login", "/", "/wiki/Home", f"/artifacts/{uid}"):
        answer = await attacker.http.request("GET", target)
        attacker.check(answer.headers.get("x-content-type-options") == "nosniff", f"{target}: is not nosniff")


@attacks.add("revoked-stream", VIEWER)
async def revoked_stream(attacker: Attacker) -> None:
    """The event stream of a token that is revoked ends, and so does that of its pages."""
    tokens = attacker.service.library.tokens
    made = await tokens.create(Scope.VIEWER, org="acme", name="to be revoked")
    for path in ("/events", "/desk/live"):
        probe = await _opens(attacker, path, made.secret)
        attacker.check(probe, f"{path}: is no stream")
    async with attacker.http.connect() as (reader, writer):
        writer.write(attacker.http.head("GET", "/events", token=made.secret))
        await reader.readuntil(b"\r\n\r\n")
        await tokens.revoke(made.token.uid)
        async with asyncio.timeout(60):
            while await reader.read(65_536):
                pass
    attacker.expect(await attacker.http.request("GET", "/jobs", token=made.secret), 401)


async def _opens(attacker: Attacker, path: str, token: str) -> bool:
    async with asyncio.timeout(SHORT), attacker.http.connect() as (reader, writer):
        writer.write(attacker.http.head("GET", path, token=token))
        head = await reader.readuntil(b"\r\n\r\n")
        return head.startswith(b"HTTP/1.1 200")


@attacks.add("waiting-callers", SUBMITTER)
async def waiting_callers(attacker: Attacker) -> None:
    """60 callers that wait for a job which is delayed, and go away: nothing is left behind."""
    payload = DOT | {"source": "digraph { delayed }"}  # not in the cache
    job = {"kind": "render", "payload": payload, "delay": 3600}
    made = attacker.expect(await attacker.http.submit(attacker.token("submitter"), job), 202)
    uid = made.json()["id"]

    async def wait_a_little() -> None:
        async with attacker.http.connect() as (reader, writer):
            writer.write(attacker.http.head("GET", f"/jobs/{uid}?wait=60", token=attacker.token("viewer")))
            try:
                async with asyncio.timeout(2):
                    attacker.objections.append(f"answered at once: {(await read_answer(reader)).status}")
            except TimeoutError:
                pass

    await asyncio.gather(*(wait_a_little() for _ in range(60)))
    attacker.expect(await attacker.http.request("POST", f"/jobs/{uid}/cancel", token=attacker.token("submitter")), 200, 202)


@attacks.add("webhooks-inwards", SUBMITTER)
async def webhooks_inwards(attacker: Attacker) -> None:
    """Webhooks to this machine and its network, by a submitter and an operator: 403 and 422."""
    for url in (
        "http://127.0.0.1/",
        "https://127.0.0.1/",
        "https://[::1]/",
        "https://169.254.169.254/",
        "https://localhost/",
        "file:///etc/passwd",
        "https://" + "a" * 60_000,
    ):
        webhook = {"url": url, "events": ["job.completed"]}
        attacker.expect(await attacker.http.submit(attacker.token("submitter"), webhook, "/webhooks"), 403, what=url[:40])
        attacker.expect(
            await attacker.http.submit(attacker.token("operator"), webhook, "/webhooks"), 422, 403, 400, what=url[:40]
        )
