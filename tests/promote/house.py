"""A database that has been lived in: something of everything, ended, waiting, and left behind by a worker that died."""

import asyncio
from pathlib import Path
from typing import Any

from pressroom import Pressroom, SourceInvalid, Tier, kind
from pressroom.app import BUILT_IN
from tests import looking

SOURCE = "digraph { old -> house }"


@kind("echo")
async def echo(job: Any, payload: Any) -> Any:
    await job.phase("echoing", total=1)
    await job.step(message="one")
    return {"said": payload}


@kind("wrong", alert=True)
async def wrong(job: Any, payload: Any) -> Any:
    raise SourceInvalid("no closing bracket", line=3)


KINDS = [echo, wrong]
UID = "0123456789ABCDEFGHJKMNPQRS"

# What a service would have written. The rows only have to be as the tables allow.
FURNITURE = """
INSERT INTO token VALUES ('t1', printf('%064d', 7), 'pt_', 'for ci', 'submitter', 'acme', 0, 1, NULL, NULL, 5);
INSERT INTO webhook VALUES ('0123456789ABCDEFGHJKMNPQRT', '', 'https://example.org/', '["job.completed"]', NULL, NULL, 1);
INSERT INTO webhook_secret VALUES ('0123456789ABCDEFGHJKMNPQRT', 'whsec_x', NULL);
INSERT INTO webhook_delivery (webhook, type, facts, date_created) VALUES ('0123456789ABCDEFGHJKMNPQRT', 'test', '{}', 1);
INSERT INTO webhook_delivery (webhook, type, facts, date_created) VALUES ('0123456789ABCDEFGHJKMNPQRT', 'test', '{}', 2);
DELETE FROM webhook_delivery WHERE date_created = 2;
INSERT INTO reply VALUES ('me POST /', 'k', 'd', 200, '{}', 'tab\tnew' || char(10) || 'line\\back' || char(13, 8, 11, 12), 9);
INSERT INTO diagram (name, link, date_created) VALUES ('arch', '0123456789ABC', 1);
INSERT INTO diagram_version VALUES (1, 1, 'digraph {}', 'dot', '{}', NULL, 'completed', NULL, NULL, 1, 2);
INSERT INTO wiki_article (url, title, head, shown, date_created, date_changed) VALUES ('Home', 'Home', 1, 1, 1, 1);
INSERT INTO wiki_revision
VALUES (1, 1, 'Home', '', 'ada', 6, printf('%096d', 1), NULL, 'shape=1', NULL, 1, 2, 'rendered');
INSERT INTO wiki_source VALUES (1, 1, '# Home');
INSERT INTO wiki_html VALUES (1, 1, '<h1>Home</h1>', '[]');
INSERT INTO wiki_link VALUES (1, 'Other');
INSERT INTO wiki_text VALUES (1, 'home', 'home');
INSERT INTO schedule VALUES ('nightly', '0 3 * * *', 'echo', '{}', 'one', NULL, 7);
INSERT INTO schedule_tick VALUES ('nightly', 7, 'a-job');
INSERT INTO artifact_hold SELECT 'edition:1', uid, 1 FROM artifact;
INSERT INTO diagram_picture SELECT 1, 1, 'svg', '', uid, 1 FROM artifact;
INSERT INTO blob VALUES (printf('%064d', 1), 3, 10, 'marked', 1, 1);
INSERT INTO worker (uid, process, kinds, slots, date_started, seen_at) VALUES ('dead', 'elsewhere/1/1', '[]', 1, 1, 1);
UPDATE kind SET paused = 1 WHERE name = 'wrong';
UPDATE blob_epoch SET value = 4;
UPDATE sequence SET value = value + 1000;
UPDATE job SET subject = 'a' || char(0) || 'b', trace = '{"n":"\\u0000"}' WHERE kind = 'wrong' AND status = 'queued';
UPDATE job SET status = 'in_progress', claim = 1, worker = 'dead', lease = 1, lease_until = 1, date_started = 1
 WHERE subject = 'left behind';
INSERT INTO job_event (job_id, at, type) SELECT id, 1, 'started' FROM job WHERE subject = 'left behind';
INSERT INTO job_item SELECT id, 1, 'page', 'one', 0, 'in_progress', NULL FROM job WHERE subject = 'left behind';
"""


def furnish(folder: Path) -> None:
    """Make `press.db` with its artifacts in a folder."""
    address = f"sqlite:///{folder / 'press.db'}"
    asyncio.run(_live(address))
    looking.change(address, FURNITURE)


async def _live(address: str) -> None:
    async with Pressroom(address, kinds=KINDS, apps=BUILT_IN, workers=2) as press:
        await press.wait(await press.render("dot", SOURCE, "svg"), timeout=60)
        await press.wait(await press.submit("echo", {"text": "żółw \\ 🐢"}, subject="ended"), timeout=60)
        await press.wait_until_ended(await press.submit("wrong", None), timeout=60)
    async with Pressroom(address, kinds=KINDS, apps=BUILT_IN, workers=None) as press:
        await press.submit("echo", "queued", subject="queued", tier=Tier.INTERACTIVE)
        await press.submit("echo", "left", subject="left behind")
        await press.submit("echo", "later", delay=3600, key="edition:1")
        await press.submit("wrong", "never", subject="paused")
        await press.cancel(await press.submit("echo", "unwanted"))
        for n in range(20):
            await press.submit("echo", n, delay=3600, org_id="acme")
