"""Everything belongs to an organisation; another's does not exist (X25)."""

from tests import looking
from tests.apps.diagrams.conftest import Easel, Staging

TEXT = {"source": "secret", "format": "dot"}


async def test_another_organisations_diagrams_and_jobs_are_404(staged: Staging, easel: Easel) -> None:
    async with staged() as stage, stage.client("red") as red, stage.client("blue") as blue:
        named = (await red.put("/diagrams/plan?mode=sync", json=TEXT)).json()
        job = (await red.post("/render", json=TEXT)).json()["jobId"]

        assert (await red.get("/a/plan.svg")).text == "<svg>secret|svg|light</svg>"
        assert (await red.get(f"/jobs/{job}")).status_code == 200
        for path in ("/diagrams/plan", "/a/plan.svg", "/a/plan@1.svg", "/a/plan.png", f"/jobs/{job}"):
            assert (await blue.get(path)).status_code == 404, path
        assert (await blue.delete("/diagrams/plan")).status_code == 404
        assert (await blue.get(f"/jobs/{named['versions'][0]['jobId']}")).status_code == 404
        assert (await blue.get("/diagrams")).json()["items"] == []


async def test_two_organisations_may_have_the_same_name(staged: Staging, easel: Easel) -> None:
    async with staged() as stage, stage.client("red") as red, stage.client("blue") as blue:
        await red.put("/diagrams/plan?mode=sync", json=TEXT | {"source": "red"})
        await blue.put("/diagrams/plan?mode=sync", json=TEXT | {"source": "blue"})

        assert (await red.get("/a/plan.svg")).text == "<svg>red|svg|light</svg>"
        assert (await blue.get("/a/plan.svg")).text == "<svg>blue|svg|light</svg>"


async def test_one_organisations_input_is_not_answered_from_anothers_cache(staged: Staging, easel: Easel) -> None:
    async with staged() as stage, stage.client("red") as red, stage.client("blue") as blue:
        reds = await red.post("/render?mode=sync", json=TEXT)
        blues = await blue.post("/render?mode=sync", json=TEXT)

        assert blues.json()["cached"] is False
        assert blues.json()["cache"]["differs"] is None  # nor told what is in it
        assert blues.json()["shortlink"] != reds.json()["shortlink"]


async def test_an_embed_needs_its_key_where_there_is_no_token(staged: Staging, easel: Easel) -> None:
    async with staged() as stage, stage.client("red") as red, stage.client(None) as anybody:
        embed = (await red.put("/diagrams/plan?mode=sync", json=TEXT)).json()["embed"]

        shown = await anybody.get(embed)
        assert (shown.status_code, shown.headers["cache-control"]) == (200, "no-cache, must-revalidate")
        assert (await red.get("/a/plan.svg")).headers["cache-control"].startswith("private, ")
        assert (await red.get("/a/plan@1.svg")).headers["cache-control"] == "private, max-age=31536000, immutable"
        assert (await anybody.get("/a/plan.svg")).status_code == 401
        assert (await anybody.get("/a/plan.svg?key=0000000000000")).status_code == 404
        assert (await anybody.get(embed.replace("plan.svg", "other.svg"))).status_code == 404


async def test_a_job_cannot_put_a_picture_into_somebody_elses_diagram(staged: Staging, easel: Easel, database: str) -> None:
    """A payload is the caller's own words. Once, its mark was believed."""
    async with staged() as stage, stage.client("red") as red:
        await red.put("/diagrams/plan?mode=sync", json=TEXT)
        [(id,)] = looking.rows(database, "SELECT id FROM diagram")
        payload = {"language": "dot", "output": "png", "source": "graffiti"}
        for mark in ({"diagram": id, "number": 1, "theme": "light", "first": True}, "nonsense", {"diagram": "x"}):
            # Into the queue itself: over HTTP a mark is dropped before it gets there.
            forged = await stage.press.submit("diagram", payload | {"mark": mark}, org_id="blue")
            assert (await stage.press.wait_until_ended(forged, timeout=60)).status == "completed"
            assert (await stage.press.get(forged)).payload["mark"] == mark

        assert looking.rows(database, "SELECT output, theme FROM diagram_picture") == [("svg", "light")]
        assert (await red.get("/a/plan.png")).text == "<svg>secret|png|light</svg>"

        # The same mark of red's own job is believed: it was the organisation that kept blue's picture out.
        own = {"diagram": id, "number": 1, "theme": "dark"}
        await stage.press.wait(await stage.press.submit("diagram", payload | {"mark": own}, org_id="red"), timeout=60)
        assert (await red.get("/a/plan.png?theme=dark")).text == "<svg>graffiti|png|</svg>"


async def test_a_job_cannot_settle_somebody_elses_version(staged: Staging, easel: Easel, database: str) -> None:
    async with staged() as stage, stage.client("red") as red:
        easel.hold()
        await red.put("/diagrams/plan", json=TEXT)
        [(id,)] = looking.rows(database, "SELECT id FROM diagram")
        mark = {"diagram": id, "number": 1, "theme": "light", "first": True}
        payload = {"language": "dot", "output": "svg", "source": "broken", "mark": mark}
        forged = await stage.press.submit("diagram", payload, org_id="blue", delay=3600)
        assert (await stage.press.cancel(forged)).status == "cancelled"

        assert looking.rows(database, "SELECT status, error FROM diagram_version") == [("pending", None)]
        easel.release()
        told = (await red.put("/diagrams/plan?mode=sync", json=TEXT)).json()
        assert told["versions"][0]["status"] == "completed"


async def test_a_mark_is_not_taken_from_a_job_that_is_submitted_over_http(staged: Staging, easel: Easel) -> None:
    async with staged() as stage, stage.client("blue") as blue:
        payload = {
            "language": "dot",
            "output": "png",
            "source": "graffiti",
            "mark": {"diagram": 1, "number": 1, "theme": "light"},
        }
        submitted = await blue.post("/jobs", json={"kind": "diagram", "payload": payload})

        assert submitted.status_code == 202
        assert "mark" not in (await stage.press.get(submitted.json()["id"])).payload
