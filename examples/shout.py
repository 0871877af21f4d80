"""A job's life, live in the terminal: submitted, retried, cancelled, watched.

Run it with `./dev run`. It keeps its database in a temporary folder, so every run starts from nothing.
"""

import asyncio
import logging
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from pressroom import Event, JobCancelled, OnKey, Pressroom, SourceInvalid, Tier, Transient, kind


@kind("shout", max_attempts=3, timeout=5)
async def shout(job, payload):
    """Work in steps, and tell about each."""
    words = payload["text"].split()
    await job.phase("shouting", total=len(words))
    for word in words:
        await asyncio.sleep(0.25)
        await job.step(message=word.upper())
    return payload["text"].upper()


@kind("flaky", max_attempts=3)
async def flaky(job, payload):
    """Fail the first time, in a way that may work the next time."""
    if job.attempt == 1:
        raise Transient("the printer is warming up")
    return "printed"


@kind("publish", on_key=OnKey.COALESCE)
def publish(job, payload):
    """A plain function is as welcome as a coroutine. Some editions fail; the job is completed with errors."""
    job.items("editions", ["main", "v2", "draft"])
    for edition in ("main", "v2"):
        with job.item(edition):
            pass
    job.item_failed("draft", "nobody approved it")
    return payload["revision"]


@kind("strict")
async def strict(job, payload):
    raise SourceInvalid("a heading needs a space after the #", line=3, column=2)


@kind("endless", timeout=60)
async def endless(job, payload):
    await job.phase("dreaming")
    await asyncio.Event().wait()


def show(event: Event) -> None:
    data = event.data
    if "total" in data:
        filled = int(20 * data["done"] / data["total"])
        text = f"[{'█' * filled}{'·' * (20 - filled)}] {data['done']}/{data['total']} {data.get('message', '')}"
    else:
        text = " ".join(f"{name}={value}" for name, value in data.items())
    age = datetime.now(UTC) - event.at
    print(f"  {event.type:<22} {text}  ({age.total_seconds() * 1000:.0f} ms ago)")
    sys.stdout.flush()


async def tell(press: Pressroom, title: str, job) -> None:
    print(f"\n{title}: {job} ({job.answer})")
    async for event in press.watch(job):
        show(event)


async def main() -> None:
    logging.basicConfig(level=logging.CRITICAL)
    with tempfile.TemporaryDirectory() as folder:
        database = f"sqlite:///{Path(folder) / 'press.db'}"
        kinds = [shout, flaky, publish, strict, endless]
        async with Pressroom(database, kinds=kinds, workers=4) as press:
            job = await press.submit("shout", {"text": "every job is a row in a table"}, tier=Tier.INTERACTIVE)
            await tell(press, "Progress, live", job)
            print(f"  the value: {await press.wait(job)!r}")

            await tell(press, "An error that may pass is tried again", await press.submit("flaky"))
            await tell(press, "A wrong source is not, and says where", await press.submit("strict"))

            await press.pause("publish")
            for revision in (1, 2, 3):
                job = await press.submit("publish", {"revision": revision}, key="page:/Home")
            await press.resume("publish")
            await tell(press, "Three saves of one page, rendered once", job)
            print(f"  revision rendered: {await press.wait(job)}")

            job = await press.submit("endless")
            asyncio.get_running_loop().call_later(0.5, lambda: asyncio.ensure_future(press.cancel(job)))
            await tell(press, "Cancelled while it runs", job)
            try:
                await press.wait(job)
            except JobCancelled as error:
                print(f"  waiting for it raises {type(error).__name__}: {error}")
    print("\nREADME.md says how to use it in your own program.")


if __name__ == "__main__":
    asyncio.run(main())
