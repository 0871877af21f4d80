"""The first process on a new database: makes the tables, Pressroom's and the application's, and lays out the poison."""

from pressroom import Pressroom
from tests.reliability.client import Client
from tests.reliability.journal import Journal
from tests.reliability.workload import POISON, TABLES, Handlers


async def run(url: str, journal: Journal, bombs: int = 0) -> None:
    async with Pressroom(url, kinds=Handlers(journal).kinds(), workers=None) as press:
        async with press.transaction() as transaction:
            for statement in filter(str.strip, TABLES.split(";")):
                await transaction.execute(statement)
        client = Client(press, journal)
        for number in range(bombs):
            await client.submit(POISON, delay=3.0 * number)
