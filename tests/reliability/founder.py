"""The first process on a new database: makes the tables, Pressroom's and the application's, and lays out the first jobs.

Poison, and books that somebody is to fall asleep over.
"""

from pressroom import Pressroom
from pressroom.config import Settings
from tests.reliability.client import Client
from tests.reliability.journal import Journal
from tests.reliability.workload import LEASE, POISON, TABLES, TABLES_ON_A_SERVER, Handlers


async def run(place: Settings, journal: Journal, bombs: int = 0, books: int = 0) -> None:
    tables = TABLES_ON_A_SERVER if place.on_postgres else TABLES
    async with Pressroom(settings=place, kinds=Handlers(journal).kinds(), workers=None) as press:
        async with press.transaction() as transaction:
            for statement in filter(str.strip, tables.split(";")):
                await transaction.execute(statement)
        client = Client(press, journal)
        for number in range(bombs):
            await client.submit(POISON, delay=3.0 * number)
        for _ in range(books):
            await client.submit("book", seconds=2 * LEASE)
