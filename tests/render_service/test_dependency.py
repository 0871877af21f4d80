"""Workers that depend on a render service: what `check`, `/health` and `/readyz` tell of it, and how their jobs end."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from pressroom import Pressroom, backends, kind
from pressroom.api.worker_endpoint import make_worker_endpoint
from pressroom.base.dependencies import run_probe
from pressroom.config import Settings
from pressroom.model import Status
from pressroom.serving import make_service
from tests.cli.conftest import Run
from tests.render_service.stage import HELLO, TOKEN, html, on_stage, pretended_service, response
from tests.servers import free_ports


async def code_of(**settings: Any) -> str | None:
    probes = backends.dependency_probes(Settings(**settings), write=False)
    return (await run_probe("render", probes["render"])).code


async def test_each_problem_of_the_render_service_has_a_code() -> None:
    nowhere = f"http://127.0.0.1:{free_ports(1)[0]}"
    async with on_stage(render_token=TOKEN) as stage:
        assert await code_of(render_url=stage.url, render_token=TOKEN) is None
        assert await code_of(render_url=stage.url) == "render_token_refused"
        assert await code_of(render_url=f"{stage.url}/elsewhere", render_token=TOKEN) == "render_service_unknown"
    body = json.dumps({"status": "fail", "version": "1", "authorized": True, "code": "engine_missing"}).encode()
    async with pretended_service(response("503 No", body)) as url:
        assert await code_of(render_url=url) == "render_service_failing"
    async with pretended_service(response("302 Found", b"", Location="/")) as url:
        assert await code_of(render_url=url) == "render_service_unknown"
    assert await code_of(render_url=nowhere) == "render_unreachable"


def test_check_masks_the_token(give: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RENDER_URL", f"http://127.0.0.1:{free_ports(1)[0]}")
    monkeypatch.setenv("RENDER_TOKEN", TOKEN)

    code, out, err = give("check", "--quick", "--json")

    told = json.loads(out)
    assert code == 1
    assert {"name": "render_token", "value": "***", "from": "environment (RENDER_TOKEN)"} in told["settings"]
    assert [(one["what"], one["code"]) for one in told["findings"] if not one["well"]] == [("render", "render_unreachable")]
    assert TOKEN not in out + err


async def test_a_service_and_a_worker_name_it_and_go_on(file: str, eventually: Any) -> None:
    nowhere = f"http://127.0.0.1:{free_ports(1)[0]}"
    async with Pressroom(file, workers=1, render_url=nowhere) as press:
        _, service = make_service(press)
        worker = make_worker_endpoint(press.local_workers, press.settings, lambda: press.rendering.presses)
        for app in (service, worker):
            transport = httpx.ASGITransport(app=app, client=("127.0.0.1", 1))
            async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:

                async def told(client: httpx.AsyncClient = client) -> bool:
                    answer = await client.get("/readyz")
                    assert answer.status_code == 200
                    return bool(answer.json() == {"status": "warn", "degraded": {"render": "render_unreachable"}})

                await eventually(told)


async def test_a_job_prints_by_the_service_and_ends_as_it_says(file: str) -> None:
    """R21, R28, D22: final at once, in our words, and the service's own for operators alone."""
    press: Pressroom

    @kind("printed", max_attempts=3)
    async def printed(job: Any, payload: Any) -> Any:
        return (await press.rendering.document_renderer.render_pdf(html(payload), job=job)).details["pages"]

    async with on_stage(render_token=TOKEN) as stage:
        press = Pressroom(file, kinds=[printed], workers=2, render_url=stage.url, render_token=TOKEN)
        async with press:
            good = await press.submit("printed", HELLO, org_id="an org/ä")
            bad = await press.submit("printed", " ")
            assert await press.wait(good, timeout=600) == 1
            failed = await press.queue.wait_until_ended(bad, timeout=600)

    assert failed.status is Status.FAILED
    assert [error["code"] for error in failed.errors] == ["render_http_4xx"]
    assert failed.last_error == "the render service cannot render this source (422)"
    assert json.loads(failed.errors[0]["detail"])["detail"] == "the source is empty"
    assert stage.renders("completed") == 1
