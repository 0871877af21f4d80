"""The first process on a new database: makes the tables, Pressroom's and the application's, and lays out the poison."""

from pressroom import Pressroom
from tests.reliability.journal import Journal
from tests.reliability.workload import POISON, TABLES, Handlers


async def run(url: str, journal: Journal, bombs: int) -> None:
    async with Pressroom(url, kinds=Handlers(journal).kinds(), workers=None) as press:
        async with press.transaction() as transaction:
            for statement in filter(str.strip, TABLES.split(";")):
                await transaction.execute(statement)
        for number in range(bombs):
            payload = {"kind": POISON, "nonce": f"{POISON}-{number}", "revision": 0}
            journal.write("invoke", "submit", nonce=payload["nonce"])
            job = await press.submit(POISON, payload, delay=3.0 * number)
            journal.write(
                "ok", "submit", nonce=payload["nonce"], uid=job.uid, kind=POISON, answer=job.answer, revision=0
            )
