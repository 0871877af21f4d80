"""A process that publishes the edition `__main` of acme/guide to a folder, and may kill itself while it does.

python -m tests.apps.docs.tree_victim DATABASE FOLDER [CHANGES UNTIL IT IS KILLED]
"""

import asyncio
import os
import signal
import sys
from functools import partial
from pathlib import Path

from pressroom.apps.docs.model import MAIN
from pressroom.apps.docs.processing.edition_publishing import find_publication
from pressroom.apps.docs.publishing import leases, site_copy
from pressroom.apps.docs.publishing.places import FolderPlace
from pressroom.apps.docs.publishing.tree import TreePublisher
from pressroom.apps.docs.store.editions import get_edition
from pressroom.clock import SystemClock
from tests.apps.docs.pubs_stage import pubs_stage
from tests.apps.docs.tree_stage import WatchedPlace


async def publish(database: str, folder: Path, dies_at: int) -> None:
    place = WatchedPlace(FolderPlace(folder))

    def die_if_due() -> None:
        if 0 < dies_at <= place.changes:
            os.kill(os.getpid(), signal.SIGKILL)

    place._after = die_if_due
    async with pubs_stage(database, workers=None) as stage:
        project = await stage.app.projects.get("acme", "guide")
        edition = await stage.database.read(partial(get_edition, project.id, MAIN))
        publication = await stage.database.read(partial(find_publication, edition.id))
        publisher = TreePublisher(place, stage.database, lambda: stage.press.rendering.blobs, SystemClock())
        await publisher.publish(publication)


if __name__ == "__main__":
    leases.LEASE = 1.0  # what a killed process leaves behind is over soon
    site_copy.BATCH = 2
    asyncio.run(publish(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 0))
