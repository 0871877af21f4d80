"""Attacks by bodies and queries that are costly to read: JSON, forms, parameters."""

import json

from tests.attack.http_client import FORM_HEADERS, SHORT, form_body
from tests.attack.measure import Attacker
from tests.attack.registry import ANONYMOUS, SUBMITTER, VIEWER, Attacks

MB = 1024 * 1024
JSON_PATHS = ("/jobs", "/render", "/kroki/graphviz/svg", "/jobs/job_01JD0000000000000000000000/cancel")

attacks = Attacks()


async def _send_json(attacker: Attacker, body: bytes, *, token: str | None = None, name: str = "") -> None:
    for path in JSON_PATHS:
        answer = await attacker.http.submit(token or attacker.token("submitter"), body, path, within=SHORT * 3)
        attacker.check(400 <= answer.status < 500, f"{path} {name}: {answer.status} {answer.body[:200]!r}")


@attacks.add("json-12-mb", SUBMITTER)
async def json_of_12_mb(attacker: Attacker) -> None:
    """JSON bodies just under 12 MB: one text, texts full of escapes and separators, many numbers, many keys."""
    size = 12 * MB - 200
    bodies = {
        "one text": b'{"kind": "render", "payload": "%s"}' % (b"x" * size),
        "escapes": b'{"kind": "render", "payload": "%s"}' % (b"\\u00e9" * (size // 6)),
        "surrogates": b'{"kind": "render", "payload": "%s"}' % (b"\\ud83d\\ude00" * (size // 12)),
        "separators": b'{"kind": "render", "payload": "%s"}' % (b",[{" * (size // 3)),
        "quotes": b'{"kind": "render", "payload": "%s"}' % (b'\\"' * (size // 2)),
        "source of separators": b'{"source": "%s", "format": "dot"}' % (b",[{" * (size // 3)),
        "numbers": b'{"kind": "render", "payload": [%s1]}' % (b"1," * (size // 2)),
        "objects": b'{"kind": "render", "payload": [%s{}]}' % (b"{}," * (size // 3)),
        "spaces": b" " * size + b"{}",
        "digits": b'{"kind": "render", "payload": %s}' % (b"9" * size),
        "fraction": b'{"kind": "render", "payload": 0.%s}' % (b"9" * size),
        "not UTF-8": b'{"kind": "render", "payload": "%s"}' % (b"\xff" * size),
    }
    for name, body in bodies.items():
        await _send_json(attacker, body, name=name)


@attacks.add("json-many-values", SUBMITTER)
async def json_of_many_values(attacker: Attacker) -> None:
    """Just under the limit of values, where all of them are decoded: keys, lists of lists, repeated keys."""
    keys = b",".join(b'"key%d":%d' % (number, number) for number in range(190_000))
    bodies = {
        "keys": b'{"kind": "render", "payload": {%s}}' % keys,
        "options": b'{"source": "digraph {}", "format": "dot", "options": {%s}}' % keys,
        "unknown fields": b"{%s}" % keys,
        "lists": b'{"kind": "render", "payload": [%s[]]}' % (b"[]," * 99_000),
        "repeated": b'{"kind": "render", %s "payload": 1}' % (b'"payload": 1,' * 190_000),
    }
    for name, body in bodies.items():
        await _send_json(attacker, body, name=name)


@attacks.add("json-deep", SUBMITTER)
async def json_deep(attacker: Attacker) -> None:
    """JSON nested up to a million deep, closed or not."""
    for depth in (500, 5_000, 100_000, 1_000_000):
        for opening, closing in ((b"[", b"]"), (b'{"a":', b"}")):
            for end in (b"", closing * depth):
                await _send_json(
                    attacker, b'{"kind": "render", "payload": %s1%s}' % (opening * depth, end), name=f"depth {depth}"
                )


@attacks.add("json-anonymous", ANONYMOUS)
async def json_anonymous(attacker: Attacker) -> None:
    """The same without a token: 401 before anything is decoded."""
    for body in (b"[" * 5 * MB, b"1," * 5 * MB):
        answer = await attacker.http.request("POST", "/jobs", headers={"Content-Type": "application/json"}, body=body)
        attacker.expect(answer, 401)


@attacks.add("json-as-viewer", VIEWER)
async def json_as_viewer(attacker: Attacker) -> None:
    """The same as a viewer, who may submit nothing: 403 before anything is decoded."""
    for path in ("/jobs", "/render"):
        attacker.expect(await attacker.http.submit(attacker.token("viewer"), b"[" * 5 * MB, path), 403)


@attacks.add("query-parameters", VIEWER)
async def many_query_parameters(attacker: Attacker) -> None:
    """10,000 parameters, repeated ones, 60 KB of percent signs: on pages and lists."""
    queries = (
        "&".join(f"p{number}" for number in range(10_000))[:60_000],
        "status=queued&" * 4_000,
        "&" * 60_000,
        "%" * 60_000,
        "q=" + "%F0%9F%92%A9" * 4_900,
        "status=" + "%00" * 19_000,
        "limit=" + "9" * 60_000,
        "cursor=" + "A" * 60_000,
        "wait=" + "1" * 400,
        "=&" * 29_000,
    )
    paths = (
        "/jobs",
        "/desk/jobs",
        "/desk",
        "/wiki/Special:Search",
        "/playground",
        "/desk/login",
        "/queue/active",
        "/desk/find",
    )
    for path in paths:
        for query in queries:
            answer = await attacker.http.request("GET", f"{path}?{query}", token=attacker.token("viewer"), within=SHORT * 3)
            attacker.check(0 < answer.status < 500, f"{path}?{query[:20]}: {answer.status} {answer.body[:200]!r}")


@attacks.add("render-parameters", SUBMITTER)
async def many_render_parameters(attacker: Attacker) -> None:
    """10,000 options in the query of a render, and options of 60 KB."""
    for query in (
        "&".join(f"o{number}" for number in range(10_000))[:60_000],
        "theme=" + "x" * 60_000,
        "&".join(["theme=a"] * 7_000),
    ):
        answer = await attacker.http.request(
            "POST",
            f"/render?format=dot&{query}",
            token=attacker.token("submitter"),
            headers={"Content-Type": "text/plain"},
            body=b"digraph { p }",
        )
        attacker.check(0 < answer.status < 500, f"{query[:20]}: {answer.status} {answer.body[:200]!r}")


@attacks.add("form-fields", SUBMITTER)
async def many_form_fields(attacker: Attacker) -> None:
    """Forms of 10,000 and a million fields, of 12 MB of percent signs, and of no UTF-8: 400 or 413."""
    own = form_body({"source": "x", "previous": "0"})
    bodies = {
        "10,000 fields": own + b"".join(b"&f%d=1" % number for number in range(10_000)),
        "a million fields": own + b"&a" * 1_000_000,
        "separators": b"&" * 12_000_000,
        "percent signs": b"source=" + b"%" * 12_000_000,
        "escapes": b"source=" + b"%41" * 4_000_000,
        "plus signs": b"source=" + b"+" * 12_000_000,
        "no UTF-8": b"source=" + b"%ff" * 4_000_000,
        "raw bytes": b"source=" + b"\xff" * 12_000_000,
        "line ends": b"source=" + b"%0D%0A" * 2_000_000,
        "one long name": b"a" * 12_000_000,
    }
    for name, body in bodies.items():
        for path in ("/wiki/Forms", "/playground/preview", "/desk/login"):
            answer = await attacker.http.request(
                "POST", path, token=attacker.token("submitter"), headers=FORM_HEADERS, body=body
            )
            attacker.check(400 <= answer.status < 500, f"{path} {name}: {answer.status} {answer.body[:100]!r}")


@attacks.add("multipart", SUBMITTER)
async def multipart(attacker: Attacker) -> None:
    """Multipart forms of 10,000 fields, and with a boundary of 50 KB: 415, unread."""
    part = b'--x\r\nContent-Disposition: form-data; name="source"\r\n\r\n1\r\n'
    for boundary in ("x", "x" * 50_000, '"' + '\\"' * 20_000):
        headers = FORM_HEADERS | {"Content-Type": f"multipart/form-data; boundary={boundary}"}
        for path in ("/wiki/Forms", "/playground/preview", "/desk/login", "/render"):
            answer = await attacker.http.request(
                "POST", path, token=attacker.token("submitter"), headers=headers, body=(part * 10_000)[:60_000]
            )
            attacker.expect(answer, 415, what=path)


@attacks.add("job-fields", SUBMITTER)
async def hostile_job_fields(attacker: Attacker) -> None:
    """Fields of a job at their limits, and beyond them: 422, and none is half written."""
    fields = {
        "key": "k" * 1_000_000,
        "subject": "\u0315" * 20_000 + "\u0300" * 20_000,
        "project_id": "\ud83d" * 10,
        "delay": 1e308,
        "max_attempts": 10**30,
        "tier": ["x"] * 1000,
        "kind": "a." * 500_000,
        "payload": {"language": "x" * 1_000_000, "output": "y" * 1_000_000, "source": "z"},
    }
    for name, value in fields.items():
        job = {"kind": "render", "payload": {"language": "dot", "output": "svg", "source": "digraph {}"}} | {name: value}
        answer = await attacker.http.submit(attacker.token("submitter"), json.dumps(job).encode())
        attacker.check(400 <= answer.status < 500, f"{name}: {answer.status} {answer.body[:200]!r}")
        attacker.check(len(answer.body) < 20_000, f"{name}: the answer has {len(answer.body):,} bytes")
