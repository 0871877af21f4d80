"""The organisation and the projects that the lab publishes to."""

import asyncio
from pathlib import Path
from typing import Any

from pressroom import Pressroom
from pressroom.apps.docs.requests import OrgDraft, ProjectDraft
from tests.reliability.docs_sites import ORG, PROJECTS


async def run(database: Path, _: asyncio.Event) -> None:
    async with Pressroom(f"sqlite:///{database}", apps=["docs"], workers=None, home=str(database.parent)) as press:
        app: Any = press.app("docs")
        await app.orgs.create(OrgDraft(slug=ORG, title="The lab"))
        for project in PROJECTS:
            await app.projects.create(ORG, ProjectDraft(slug=project, title=project))
