"""The organisation and the projects that the lab publishes to."""

import asyncio
from pathlib import Path
from typing import Any

from pressroom import Pressroom
from pressroom.apps.docs.credentials.model import ServiceDraft
from pressroom.apps.docs.requests import OrgChanges, OrgDraft, ProjectDraft
from pressroom.apps.docs.settings import DocsSettings
from tests.reliability.docs_sites import COPIED, POINTED, PROJECTS, SITES


async def run(address: str, home: Path, _: asyncio.Event) -> None:
    folder = home / SITES
    folder.mkdir()
    allowed = {"docs": DocsSettings(publish_allow=(str(folder),))}
    async with Pressroom(address, apps=["docs"], workers=None, home=str(home), sections=allowed) as press:
        app: Any = press.app("docs")
        for org in (POINTED, COPIED):
            await app.orgs.create(OrgDraft(slug=org, title=org))
        service = ServiceDraft(label="folder", provider="folder", config={"path": str(folder)})
        await app.services.create(COPIED, service, actor="the lab")
        await app.orgs.change(COPIED, OrgChanges(slots={"publishing_store": "folder"}))
        for project, org in PROJECTS.items():
            await app.projects.create(org, ProjectDraft(slug=project, title=project))
