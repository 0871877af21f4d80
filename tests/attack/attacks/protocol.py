"""Attacks by what is not quite HTTP, or not meant for this service: targets, hosts, origins, ranges, chunks, upgrades."""

import asyncio
import gzip

from tests.attack.http_client import SHORT
from tests.attack.measure import Attacker
from tests.attack.registry import ANONYMOUS, SUBMITTER, VIEWER, Attacks

attacks = Attacks()


async def _raw(attacker: Attacker, request: str, *statuses: int, body: bytes = b"") -> None:
    answer = await attacker.http.exchange(request.encode("latin-1"), body, within=SHORT * 2)
    attacker.expect(answer, *statuses, what=request[:60])


@attacks.add("foreign-host", ANONYMOUS)
async def foreign_host(attacker: Attacker) -> None:
    """A foreign Host is 421; two of them, none, or one that is no name are 400."""
    await _raw(attacker, "GET /livez HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n", 421)
    await _raw(attacker, "GET /desk/login HTTP/1.1\r\nHost: evil.example:80\r\nConnection: close\r\n\r\n", 421)
    for lines in ("Host: localhost\r\nHost: evil.example\r\n", "Host: localhost\r\nHost: localhost\r\n", "", "Host: a b\r\n"):
        await _raw(attacker, f"GET /livez HTTP/1.1\r\n{lines}Connection: close\r\n\r\n", 400)
    await _raw(attacker, f"GET /livez HTTP/1.1\r\nHost: {'a.' * 30_000}\r\nConnection: close\r\n\r\n", 400, 421)


@attacks.add("odd-targets", ANONYMOUS)
async def odd_targets(attacker: Attacker) -> None:
    """`GET *`, `OPTIONS *`, CONNECT, a proxy's target, HTTP/0.9 and other versions: refused, never a 5xx."""
    host = "Host: localhost\r\nConnection: close\r\n\r\n"
    for method in ("GET", "OPTIONS", "POST"):
        await _raw(attacker, f"{method} * HTTP/1.1\r\n{host}", 400)
    await _raw(attacker, f"CONNECT evil.example:443 HTTP/1.1\r\n{host}", 400, 405, 0)
    await _raw(attacker, f"GET http://evil.example/livez HTTP/1.1\r\n{host}", 400, 200, 421)
    await _raw(attacker, "GET /livez\r\n\r\n", 400, 0)
    await _raw(attacker, f"GET /livez HTTP/0.9\r\n{host}", 400, 0)
    await _raw(attacker, f"GET /livez HTTP/3.7\r\n{host}", 400, 0)
    await _raw(attacker, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400, 0)
    await _raw(attacker, "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + "\x00" * 500, 400, 0)
    await _raw(attacker, f"{'A' * 5000} / HTTP/1.1\r\n{host}", 400, 0)


@attacks.add("foreign-origin", SUBMITTER)
async def foreign_origin(attacker: Attacker) -> None:
    """A change that a page of another site sends is 403, with a valid token too; `null` and another port are foreign."""
    job = {"kind": "render", "payload": {"language": "dot", "output": "svg", "source": "digraph { o }"}}
    for origin in ("http://evil.example", "null", "http://localhost:3000", "http://127.0.0.1", "https://" + "a" * 50_000):
        answer = await attacker.http.submit(attacker.token("submitter"), job, headers={"Origin": origin})
        attacker.expect(answer, 403, what=f"Origin {origin[:40]}")
    answer = await attacker.http.submit(attacker.token("submitter"), job, headers={"Sec-Fetch-Site": "cross-site"})
    attacker.expect(answer, 403, what="Sec-Fetch-Site")
    own = {"Origin": f"http://127.0.0.1:{attacker.http.port}"}
    attacker.expect(await attacker.http.submit(attacker.token("submitter"), job, headers=own), 202, what="own origin")


@attacks.add("path-traversal", ANONYMOUS)
async def path_traversal(attacker: Attacker) -> None:
    """Paths that climb, hide or never end, with and without a token: no file is shown, never a 5xx."""
    climbing = (
        "../" * 8,
        "..%2f" * 8,
        "%2e%2e/" * 8,
        "..%252f" * 8,
        "..\\" * 8,
        "%c0%ae%c0%ae/" * 8,
        "....//" * 8,
        ".%00./" * 8,
    )
    starts = (
        "/",
        "/jobs/",
        "/artifacts/",
        "/blobs/",
        "/d/",
        "/a/",
        "/static/",
        "/desk/static/",
        "/wiki/",
        "/kroki/",
        "/diagrams/",
    )
    paths = [f"{start}{climb}etc/passwd" for start in starts for climb in climbing]
    paths += [
        "//evil.example/x",
        "/wiki//evil.example",
        "/%00",
        "/\x7f",
        "/wiki/%ff%fe",
        "/" + "a/" * 30_000,
        "/wiki/" + "%2f" * 15_000,
    ]
    for token in (None, attacker.token("viewer")):
        for path in paths:
            answer = await attacker.http.request("GET", path, token=token, within=SHORT * 2)
            attacker.check(0 < answer.status < 500, f"{path[:60]}: {answer.status} {answer.body[:100]!r}")
            attacker.check(b"root:" not in answer.body, f"{path[:60]}: a file of the machine was shown")
            leads = answer.headers.get("location", "/")
            attacker.check(leads.startswith("/") and not leads.startswith("//"), f"{path[:60]}: leads to {leads[:100]}")


@attacks.add("ranges", VIEWER)
async def many_ranges(attacker: Attacker) -> None:
    """Range headers with thousands of ranges, reversed, negative and huge: one answer, not one for each."""
    body = {"source": "digraph { ranges }", "format": "dot"}
    made = attacker.expect(await attacker.http.submit(attacker.token("submitter"), body, "/render?mode=sync"), 200)
    link = f"/d/{made.json()['shortlink']}"
    ranges = (
        "bytes=" + ",".join(f"{n}-{n + 1}" for n in range(5000)),
        "bytes=" + ",".join(["0-"] * 15_000),
        "bytes=" + "-" * 60_000,
        "bytes=" + "9" * 60_000 + "-",
        "bytes=5-1",
        "bytes=-0",
        "bytes=999999999999999999-",
    )
    for header in ranges:
        answer = await attacker.http.request("GET", link, headers={"Range": header}, within=SHORT)
        attacker.expect(answer, 200, 206, 416, what=header[:40])
        attacker.check(len(answer.body) <= 100_000, f"{header[:40]}: {len(answer.body)} bytes")


@attacks.add("long-headers", SUBMITTER)
async def long_headers(attacker: Attacker) -> None:
    """60 KB in one header that the service reads: Accept, Prefer, If-None-Match, dates, keys, traces, languages."""
    values = {
        "Accept": [
            ",".join(f"image/x{n};q=0.{n % 10}" for n in range(3000)),
            "*/*;q=" + "0" * 60_000,
            "," * 60_000,
            "a/b;" * 15_000,
        ],
        "Prefer": ["wait=" + "9" * 60_000, "wait=1," * 8000, ";" * 60_000, 'wait="' + '\\"' * 29_000 + '"'],
        "If-None-Match": [",".join(['"a"'] * 14_000), 'W/"' * 19_000, '"' * 60_000],
        "If-Modified-Since": ["Mon, " * 12_000, "(" * 60_000, "0" * 60_000],
        "Idempotency-Key": ['"' + "k" * 60_000 + '"', '"' + "\\" * 60_000],
        "Traceparent": ["00-" * 20_000],
        "Content-Type": ["application/json;" + "a=b;" * 15_000, 'text/plain; charset="' + '\\"' * 29_000],
        "X-Request-Id": ["a" * 60_000],
        "X-Forwarded-For": ["1.2.3.4," * 7000],
        "Last-Event-Id": ["9" * 60_000],
        "Accept-Language": ["en;q=0.1," * 6000],
        "If-Match": ['"x",' * 14_000],
    }
    body = b'{"source": "digraph { h }", "format": "dot"}'
    token = attacker.token("submitter")
    for name, texts in values.items():
        for text in texts:
            for method, path in (("GET", "/wiki/Warm_up"), ("POST", "/render"), ("GET", "/jobs"), ("POST", "/kroki/graphviz")):
                headers = {"Content-Type": "application/json"} | {name: text}
                sent = body if method == "POST" else b""
                answer = await attacker.http.request(method, path, token=token, headers=headers, body=sent, within=SHORT * 3)
                attacker.check(
                    0 < answer.status < 500, f"{method} {path} {name} {text[:20]}: {answer.status} {answer.body[:200]!r}"
                )


@attacks.add("authorization", ANONYMOUS)
async def odd_authorization(attacker: Attacker) -> None:
    """Authorization of 60 KB, of no form, twice, or not ASCII: 401, and past the limit of wrong tokens 429."""
    texts = (
        "Bearer " + "x" * 60_000,
        "Basic " + "=" * 60_000,
        "Bearer",
        "Bearer  " * 7000,
        " " * 60_000,
        "Bearer pr_\xff\xfe",
        "\xff",
    )
    for text in texts:
        answer = await attacker.http.request("GET", "/jobs", headers={"Authorization": text}, source="127.0.0.7", within=SHORT)
        attacker.expect(answer, 401, 429, what=text[:20])


@attacks.add("guessed-tokens", ANONYMOUS)
async def guessed_tokens(attacker: Attacker) -> None:
    """300 wrong tokens from one address: 401, then 429; a valid token from another address is admitted."""
    source, statuses = "127.0.0.8", []
    for number in range(300):
        token = f"pr_{number:043d}"
        statuses.append((await attacker.http.request("GET", "/jobs", token=token, source=source, within=SHORT)).status)
    attacker.check(set(statuses) == {401, 429}, f"the statuses were {sorted(set(statuses))}")
    attacker.check(statuses.count(401) <= 40, f"{statuses.count(401)} guesses were looked up")
    attacker.expect(await attacker.http.request("GET", "/jobs", token=attacker.token("viewer")), 200)


@attacks.add("gzip-bomb", SUBMITTER)
async def gzip_bomb(attacker: Attacker) -> None:
    """Compressed bodies of 10 MB that become 10 GB: 415, unread."""
    bomb = await asyncio.to_thread(gzip.compress, bytes(64 * 1024 * 1024))
    for encoding in ("gzip", "deflate", "br", "zstd", "gzip, gzip", "identity, gzip"):
        for path in ("/jobs", "/render?format=dot", "/kroki/graphviz/svg"):
            answer = await attacker.http.submit(attacker.token("submitter"), bomb, path, headers={"Content-Encoding": encoding})
            attacker.expect(answer, 415, what=f"{path} {encoding}")


@attacks.add("kroki-deflate-bomb", SUBMITTER)
async def kroki_deflate_bomb(attacker: Attacker) -> None:
    """A deflated source in a Kroki address that becomes 45 MB: refused by its limit."""
    import base64
    import zlib

    encoded = base64.urlsafe_b64encode(zlib.compress(b"x" * 45_000_000, 9)).decode()
    path = f"/kroki/graphviz/svg/{encoded}"
    answer = await attacker.http.request("GET", path, token=attacker.token("submitter"), within=SHORT * 2)
    attacker.check(400 <= answer.status < 500, f"{answer.status} {answer.body[:200]!r}")


@attacks.add("chunk-framing", SUBMITTER)
async def chunk_framing(attacker: Attacker) -> None:
    """Chunks with extensions of megabytes, of one byte each, of a huge or negative size, and trailers without end."""
    headers = {"Transfer-Encoding": "chunked", "Content-Type": "application/json"}
    head = attacker.http.head("POST", "/jobs", token=attacker.token("submitter"), headers=headers)
    bodies = {
        "extension": [b"1;" + b"x" * 1_000_000] * 20,
        "many extensions": [b"1;a=" + b"x" * 10_000 + b"\r\n{\r\n"] * 2000,
        "one byte each": [b"1\r\n \r\n" * 200_000] * 10,
        "huge size": [b"ffffffffffffffff\r\n{}"],
        "larger than 64 bits": [b"f" * 1000 + b"\r\n{}"],
        "negative": [b"-1\r\n{}\r\n0\r\n\r\n"],
        "trailers": [b"2\r\n{}\r\n0\r\n", *([b"X: " + b"y" * 1000 + b"\r\n"] * 20_000)],
        "zeros": [b"0" * 5_000_000],
    }
    for name, parts in bodies.items():
        answer = await attacker.http.exchange(head, *parts, within=SHORT * 3)
        attacker.check(answer.status < 500, f"{name}: {answer.status} {answer.body[:100]!r}")
        attacker.check(answer.status not in (200, 202), f"{name}: was accepted")


@attacks.add("smuggled-requests", ANONYMOUS)
async def smuggled_requests(attacker: Attacker) -> None:
    """Two lengths, a length and chunks, a length of letters: 400, and what follows is no request of its own."""
    start = "POST /jobs HTTP/1.1\r\nHost: localhost\r\n"
    hidden = "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"
    for lines in (
        "Content-Length: 4\r\nContent-Length: 40\r\n",
        "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n",
        "Transfer-Encoding: xchunked\r\n",
        "Content-Length: +4\r\n",
        "Content-Length: 0x4\r\n",
        "Content-Length : 4\r\n",
        "Content-Length: 99999999999999999999999\r\n",
    ):
        answer = await attacker.http.exchange(f"{start}{lines}\r\n0\r\n\r\n{hidden}".encode(), within=SHORT * 2)
        attacker.check(answer.status in (0, 400, 401, 408, 413, 501), f"{lines!r}: {answer.status}")


@attacks.add("upgrades", ANONYMOUS)
async def upgrades(attacker: Attacker) -> None:
    """Upgrade to websocket, h2c and unknown protocols: answered as plain requests or refused, never a 5xx."""
    for protocol in ("websocket", "h2c", "x" * 50_000):
        for path in ("/livez", "/events", "/desk", "/nowhere"):
            headers = {
                "Connection": "Upgrade",
                "Upgrade": protocol,
                "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
                "Sec-WebSocket-Version": "13",
                "HTTP2-Settings": "AAMAAABkAAQAoAAAAAIAAAAA",
            }
            answer = await attacker.http.request("GET", path, headers=headers, within=SHORT * 2)
            attacker.check(answer.status < 500 and answer.status != 101, f"{protocol[:10]} {path}: {answer.status}")


@attacks.add("odd-methods", ANONYMOUS)
async def odd_methods(attacker: Attacker) -> None:
    """Every method on every path without a token: never a 5xx, and nothing is changed."""
    paths = (
        "/",
        "/jobs",
        "/jobs/x",
        "/render",
        "/wiki/Home",
        "/desk",
        "/metrics",
        "/livez",
        "/openapi.json",
        "/diagrams/x",
        "/webhooks",
    )
    for method in ("PUT", "DELETE", "PATCH", "TRACE", "PROPFIND", "OPTIONS", "HEAD", "SEARCH", "BREW"):
        for path in paths:
            answer = await attacker.http.request(method, path, within=SHORT) if method != "HEAD" else None
            attacker.check(answer is None or answer.status < 500, f"{method} {path}: {answer and answer.status}")
            attacker.check(
                answer is None or method == "OPTIONS" or answer.status in (0, 303, 400, 401, 403, 404, 405, 501),
                f"{method} {path}: {answer and answer.status}",
            )
