"""No refusal spoils what comes after it: every 4xx and 503 that the API knows is provoked, each followed by a good submit and a
claim. What cannot be provoked is named, with the reason."""

import ast
import importlib
import pkgutil
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw
import httpx
import pytest

import pressroom
from pressroom.api.access import Scope
from pressroom.apps.diagrams.kroki.url_encoding import ENCODED_LIMIT
from pressroom.apps.diagrams.settings import DiagramsSettings
from pressroom.errors import PressroomError, TransactionExpired
from pressroom.renderers import documents
from pressroom.store.access import idempotency
from pressroom.store.engine import sqlite_connection
from pressroom.submission import fair_slots as slots
from pressroom.submission.admission import Admission
from pressroom.testing import ManualClock
from tests import looking
from tests.apps.diagrams.conftest import Easel
from tests.apps.docs import refusals as docs_refusals
from tests.apps.packs import refusals as packs_refusals
from tests.service.access_stage import Stage, on_stage
from tests.web.browsing import FORM, Person, member

type Refusal = tuple[int, str]
NOT_PROVOKED: dict[Refusal, str] = {
    **{
        (400, f"{what}"): "only the render service answers it, which has no queue; tests/render_service"
        for what in ("invalid_form", "invalid_field", "unsupported_field")
    },
    (422, "render_http_4xx"): "how an attempt ends at a render service; tests/apps/packs/test_render_service.py",
    (409, "set_by_settings"): "only a service with ALERT_WEBHOOK_URL meets it; tests/service/test_alerts.py",
    (400, "refused"): "a base class; only its branches are raised",
    (503, "unavailable"): "a base class; only its branches are raised",
    (422, "source_invalid"): "how an attempt ends; a caller who waits for it is answered 400, and the job tells it to others",
    (400, "undeliverable"): "raised in a worker that delivers a webhook, and kept with the delivery",
    (503, "source_in_use"): "raised by the command `pressroom promote`",
    (503, "unreachable"): "raised in the Python client when nothing was answered",
    (503, "cannot_unseal"): "only a process that has another secret_key meets it; tests/service/test_sealed_secrets.py",
    (
        503,
        "artifact_store_mismatch",
    ): "only a process with other artifact settings meets it; tests/contract/test_artifact_store_id.py",
    (503, "dependency_failed"): "raised by probes; /health and /readyz tell its cause with 200; tests/service/test_health.py",
    **{
        (503, f"s3_credentials_{how}"): "only a service with artifacts in S3 meets it; tests/unit/test_renewed_credentials.py"
        for how in ("missing", "failed", "expired")
    },
    **docs_refusals.NOT_PROVOKED,
    (499, "gone"): "for a caller who has hung up, and so does not see it",
}
# Where a status or code is computed, and what may come of it beside what stands elsewhere.
COMPUTED: dict[str, set[Refusal]] = {
    "apps/diagrams/requests.py": {(400, "unsupported_output")},
    "apps/diagrams/render_endpoint.py": {(429, "backpressure")},
    "web/site.py": set(),
    "render_service/service.py": set(),  # tests/render_service
    "render_service/gotenberg/routes.py": set(),
}
# How PostgreSQL fails in the middle of a submit whose subject is the name.
FAILURES = """
CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.subject = 'read only' THEN RAISE EXCEPTION 'cannot execute INSERT' USING ERRCODE = '25006'; END IF;
    IF NEW.subject = 'disk full' THEN RAISE EXCEPTION 'no space left on device' USING ERRCODE = '53100'; END IF;
    IF NEW.subject = 'connection lost' THEN PERFORM pg_terminate_backend(pg_backend_pid()); END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER fails BEFORE INSERT ON job FOR EACH ROW EXECUTE FUNCTION fail()
"""


@dataclass
class Scene:
    """`api` is an admin's client, and `person` an admin with a browser."""

    database: str
    stage: Stage
    clock: ManualClock
    api: httpx.AsyncClient
    person: Person
    monkeypatch: pytest.MonkeyPatch

    @property
    def is_sqlite(self) -> bool:
        return self.database.startswith("sqlite:")

    async def submit(self, **more: Any) -> httpx.Response:
        return await self.api.post("/jobs", json={"kind": "shout", "payload": "hi"} | more)

    async def draw(self, source: str = "a", *, name: str = "arch", **headers: str) -> httpx.Response:
        put = {"source": source, "format": "dot"}
        return await self.api.put(f"/diagrams/{name}?mode=sync", json=put, headers=headers)

    async def write(self, source: str, previous: int = 0) -> httpx.Response:
        return await self.person.post("/wiki/Home", {"title": "Home", "source": source, "previous": str(previous)})


type Provocation = Callable[[Scene], Awaitable[httpx.Response]]
PROVOCATIONS: dict[Refusal, Provocation] = {}


def provokes(status: int, code: str) -> Callable[[Provocation], Provocation]:
    def register(provocation: Provocation) -> Provocation:
        PROVOCATIONS[status, code] = provocation
        return provocation

    return register


@provokes(400, "invalid_idempotency_key")
async def _(scene: Scene) -> httpx.Response:
    return await scene.api.post("/jobs", json={"kind": "shout"}, headers={"Idempotency-Key": f'"{"x" * 254}"'})


@provokes(503, "transaction_expired")
async def _(scene: Scene) -> httpx.Response:
    """A machine so busy that the service's own transaction is held for too long. It was answered with a 500."""

    def expire(*_: object) -> Any:
        raise TransactionExpired("the transaction was held open for more than 5 s")

    with scene.monkeypatch.context() as patch:
        patch.setattr(idempotency, "find", expire)
        return await scene.api.post("/jobs", json={"kind": "shout"}, headers={"Idempotency-Key": "expires"})


@provokes(400, "format_missing")
async def _(scene: Scene) -> httpx.Response:
    return await scene.api.post("/render", json={"source": "a"})


@provokes(400, "unsupported_format")
async def _(scene: Scene) -> httpx.Response:
    return await scene.api.post("/render", json={"source": "a", "format": "smell"})


@provokes(400, "unsupported_output")
async def _(scene: Scene) -> httpx.Response:
    return await scene.api.post("/render", json={"source": "a", "format": "dot", "outputType": "mp3"})


@provokes(400, "invalid_argument")
async def _(scene: Scene) -> httpx.Response:
    return await scene.api.post("/render", json={"source": 5})


@provokes(400, "invalid_json")
async def _(scene: Scene) -> httpx.Response:
    return await scene.api.post("/render", content="{", headers={"Content-Type": "application/json"})


@provokes(400, "invalid_name")
async def _(scene: Scene) -> httpx.Response:
    return await scene.draw(name="-x")


@provokes(400, "source_invalid")
async def _(scene: Scene) -> httpx.Response:
    """From a render that failed, which is the longer way to it."""
    return await scene.api.post("/render?mode=sync", json={"source": "broken", "format": "dot"})


@provokes(400, "malformed_request")
async def _(scene: Scene) -> httpx.Response:
    return await scene.person.client.post("/desk/login", content=b"\xff", headers=FORM)


@provokes(401, "unauthorized")
async def _(scene: Scene) -> httpx.Response:
    async with scene.stage.client() as nobody:
        return await nobody.post("/jobs", json={"kind": "shout"})


@provokes(403, "forbidden")
async def _(scene: Scene) -> httpx.Response:
    async with scene.stage.client(await scene.stage.token(Scope.VIEWER)) as viewer:
        return await viewer.post("/jobs", json={"kind": "shout"})


@provokes(403, "form_expired")
async def _(scene: Scene) -> httpx.Response:
    return await scene.person.client.post("/desk/login", data={"form_token": "0" * 64, "token": "x"})


@provokes(404, "not_found")
async def _(scene: Scene) -> httpx.Response:
    """Found out in a transaction that is rolled back."""
    return await scene.api.post("/queue/unknown/pause")


@provokes(404, "expired")
async def _(scene: Scene) -> httpx.Response:
    made = await scene.api.post("/render?mode=sync", json={"source": "short-lived", "format": "dot"})
    scene.clock.advance(seconds=301)
    return await scene.api.get(made.json()["url"], follow_redirects=True)


@provokes(404, "unsupported_format")
async def _(scene: Scene) -> httpx.Response:
    return await scene.api.get("/kroki/smell/svg/eNpLyUwvSizIUHBXqPZIzcnJVyjPL8pJqQUAVNcH1Q==")


@provokes(405, "method_not_allowed")
async def _(scene: Scene) -> httpx.Response:
    return await scene.api.delete("/jobs")


@provokes(409, "not_finished")
async def _(scene: Scene) -> httpx.Response:
    job = (await scene.submit(delay=3600)).json()["id"]
    return await scene.api.post(f"/jobs/{job}/retry", headers={"Idempotency-Key": "too early"})


@provokes(409, "edit_conflict")
async def _(scene: Scene) -> httpx.Response:
    await scene.write("one")
    return await scene.write("another")


@provokes(410, "version_gone")
async def _(scene: Scene) -> httpx.Response:
    for source in ("one", "two", "three"):
        await scene.draw(source, name="bounded")
    return await scene.api.get("/diagrams/bounded?version=1")


@provokes(412, "precondition_failed")
async def _(scene: Scene) -> httpx.Response:
    await scene.draw("a")
    return await scene.draw("b", **{"If-Match": '"another"'})


@provokes(413, "body_too_large")
async def _(scene: Scene) -> httpx.Response:
    return await scene.submit(payload="x" * 13_000_000)


@provokes(413, "payload_too_large")
async def _(scene: Scene) -> httpx.Response:
    return await scene.submit(payload="x" * 1_100_000)


@provokes(413, "too_large")
async def _(scene: Scene) -> httpx.Response:
    return await scene.draw("x" * 600_000)


@provokes(414, "uri_too_long")
async def _(scene: Scene) -> httpx.Response:
    return await scene.api.get(f"/kroki/graphviz/svg/{'x' * (ENCODED_LIMIT + 1)}")


@provokes(415, "unsupported_media_type")
async def _(scene: Scene) -> httpx.Response:
    return await scene.api.post("/jobs", content="<job/>", headers={"Content-Type": "application/xml"})


@provokes(415, "unsupported_encoding")
async def _(scene: Scene) -> httpx.Response:
    return await scene.api.post("/jobs", content="{}", headers={"Content-Encoding": "gzip"})


@provokes(416, "range_not_satisfiable")
async def _(scene: Scene) -> httpx.Response:
    made = await scene.api.post("/render?mode=sync", json={"source": "short", "format": "dot"})
    return await scene.api.get(made.json()["url"], headers={"Range": "bytes=1000000-"})


@provokes(421, "misdirected_request")
async def _(scene: Scene) -> httpx.Response:
    return await scene.api.post("/jobs", json={"kind": "shout"}, headers={"Host": "another.example"})


@provokes(422, "idempotency_key_reused")
async def _(scene: Scene) -> httpx.Response:
    key = {"Idempotency-Key": "order-42"}
    await scene.api.post("/jobs", json={"kind": "shout", "payload": "one"}, headers=key)
    return await scene.api.post("/jobs", json={"kind": "shout", "payload": "two"}, headers=key)


@provokes(422, "unknown_kind")
async def _(scene: Scene) -> httpx.Response:
    return await scene.submit(kind="whisper")


@provokes(422, "invalid_payload")
async def _(scene: Scene) -> httpx.Response:
    return await scene.submit(payload="a NUL: \0")


@provokes(422, "invalid_argument")
async def _(scene: Scene) -> httpx.Response:
    return await scene.submit(tier="tomorrow")


@provokes(422, "invalid_json")
async def _(scene: Scene) -> httpx.Response:
    return await scene.api.post("/jobs", content="{", headers={"Content-Type": "application/json"})


@provokes(422, "address_refused")
async def _(scene: Scene) -> httpx.Response:
    return await scene.api.post("/webhooks", json={"url": "https://127.0.0.1/hook", "events": ["job.completed"]})


@provokes(429, "quota_exceeded")
async def _(scene: Scene) -> httpx.Response:
    async with scene.stage.client("pr_guessed", address=("203.0.113.77", 1)) as guesser:
        for _ in range(30):
            answer = await guesser.get("/jobs")
    return answer


@provokes(429, "too_soon")
async def _(scene: Scene) -> httpx.Response:
    await scene.write("rendered just now", previous=1)
    return await scene.person.post("/wiki/Home", {"action": "rerender"})


@provokes(429, "backpressure")
async def _(scene: Scene) -> httpx.Response:
    with scene.monkeypatch.context() as crowded:
        crowded.setattr(scene.stage.press.app("diagrams").diagrams.render_waiters, "_room", 0)
        return await scene.api.post("/render?mode=sync", json={"source": "one too many", "format": "dot"})


@provokes(431, "headers_too_large")
async def _(scene: Scene) -> httpx.Response:
    return await scene.api.get("/jobs", headers={"X-Long": "x" * 70_000})


@provokes(503, "backpressure")
async def _(scene: Scene) -> httpx.Response:
    def no_slot(_: Any, org_id: str) -> Any:
        raise slots.slots_taken_error(1)

    with scene.monkeypatch.context() as crowded:
        crowded.setattr(slots.FairSlots, "hold_slot", no_slot)
        fields = {"language": "dot", "source": "digraph { a }", "output": "svg"}
        return await scene.person.post("/playground/preview", fields)


@provokes(503, "queue_closed")
async def _(scene: Scene) -> httpx.Response:
    with scene.monkeypatch.context() as closing:
        closing.setattr(scene.stage.press.queue, "_accepting", False)
        return await scene.submit()


@provokes(503, "queue_full")
async def _(scene: Scene) -> httpx.Response:
    with scene.monkeypatch.context() as full:
        full.setattr(scene.stage.press.queue, "_admission", Admission(0))
        return await scene.submit()


@provokes(503, "store_busy")
async def _(scene: Scene) -> httpx.Response:
    with looking.held(scene.database):
        return await scene.submit()


@provokes(503, "store_read_only")
async def _(scene: Scene) -> httpx.Response:
    return await submit_that_fails(scene, "read only", apsw.ReadOnlyError("attempt to write a readonly database"))


@provokes(503, "store_full")
async def _(scene: Scene) -> httpx.Response:
    return await submit_that_fails(scene, "disk full", apsw.FullError("database or disk is full"))


@provokes(503, "store_unavailable")
async def _(scene: Scene) -> httpx.Response:
    return await submit_that_fails(scene, "connection lost", apsw.IOError("disk I/O error"))


PROVOCATIONS |= packs_refusals.PROVOCATIONS | docs_refusals.PROVOCATIONS


async def submit_that_fails(scene: Scene, subject: str, error: apsw.Error) -> httpx.Response:
    """PostgreSQL fails when it inserts a job of this subject, and SQLite with this error when it commits."""
    if not scene.is_sqlite:
        return await scene.submit(subject=subject)

    def fail(_: Any) -> None:
        raise error

    with scene.monkeypatch.context() as broken:
        broken.setattr(sqlite_connection.SqliteConnection, "commit", fail)
        return await scene.submit()


def known_refusals() -> set[Refusal]:
    """Every 4xx and 503 in the tree of errors, and every one that a source file names."""
    for module in pkgutil.walk_packages(pressroom.__path__, "pressroom."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    found = {(error.status, error.code) for error in descendants(PressroomError)}
    found |= {refusal for refusals in COMPUTED.values() for refusal in refusals}
    for _, status, code in http_errors():
        if isinstance(status, ast.Constant) and isinstance(code, ast.Constant):
            found.add((status.value, code.value))
    return {(status, code) for status, code in found if 400 <= status < 500 or status == 503}


def descendants(error: type[PressroomError]) -> Iterator[type[PressroomError]]:
    for branch in error.__subclasses__():
        if branch.__module__.startswith("pressroom."):
            yield branch
            yield from descendants(branch)


def http_errors() -> Iterator[tuple[str, ast.expr, ast.expr]]:
    """Each `HttpError(status, code, …)`: its file, its status and its code."""
    root = Path(pressroom.__file__).parent
    for path in sorted(root.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "HttpError":
                yield path.relative_to(root).as_posix(), node.args[0], node.args[1]


def test_every_refusal_that_a_caller_can_meet_is_provoked() -> None:
    computed = {path for path, *parts in http_errors() if not all(isinstance(part, ast.Constant) for part in parts)}

    assert set(PROVOCATIONS) == known_refusals() - set(NOT_PROVOKED)
    assert set(NOT_PROVOKED) <= known_refusals()
    assert computed == set(COMPUTED)


async def test_after_every_refusal_a_good_submit_is_accepted_and_its_job_done(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    looking.be_impatient(monkeypatch)
    easel = Easel()
    monkeypatch.setattr(documents, "render", lambda presses, asked, draw=None: easel.render(presses, asked))
    clock = ManualClock()
    sections = {"diagrams": DiagramsSettings(max_versions=1, cache_ttl=300.0), "docs": docs_refusals.SETTINGS}
    options = {"clock": clock, "login_limit": 20, "presses": 1, "sections": sections}
    async with (
        on_stage(database, **options) as stage,
        member(stage) as person,
        stage.client(await stage.token(everywhere=True)) as api,
    ):
        scene = Scene(database, stage, clock, api, person, monkeypatch)
        if not scene.is_sqlite:
            looking.change(database, FAILURES)
        for refusal, provoke in PROVOCATIONS.items():
            for _ in range(2):
                assert (await scene.submit()).status_code == 202, f"before {refusal}"

            answer = await provoke(scene)
            assert (answer.status_code, code_of(answer, refusal)) == refusal, answer.text[:1000]

            good = [await scene.submit(), await scene.submit(key="with a key")]
            assert [one.status_code for one in good] == [202, 202], f"after {refusal}: {good[0].text} {good[1].text}"
            for one in good:
                assert await stage.press.wait(one.json()["id"], timeout=60) == "hi", f"after {refusal}"


def code_of(answer: httpx.Response, refusal: Refusal) -> str:
    """A page or a picture tells people what is wrong, and not by a code."""
    return str(answer.json().get("code")) if "json" in answer.headers["content-type"] else refusal[1]
