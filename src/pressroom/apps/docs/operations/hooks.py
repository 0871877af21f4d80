"""Webhooks of git hosts: a push fetches templates, a deleted ref is audited, a renamed repository is followed (Q27)."""

import asyncio
import hashlib
from collections.abc import Mapping
from functools import partial

import msgspec

from pressroom.app import Core
from pressroom.apps.docs.errors import HooksNotConfigured
from pressroom.apps.docs.git.addresses import parse_git_address, repository_name
from pressroom.apps.docs.git.ref_audit import submit_audit
from pressroom.apps.docs.git.sync_jobs import submit_sync
from pressroom.apps.docs.git.webhook_events import RepositoryEvent, check_signature, read_event
from pressroom.apps.docs.settings import DocsSettings
from pressroom.apps.docs.store import refs as ref_rows
from pressroom.apps.docs.store import templates as template_rows
from pressroom.apps.docs.store import webhooks as rows
from pressroom.errors import InvalidArgument
from pressroom.model import Statement, Submitted, Work
from pressroom.store import Transaction
from pressroom.store.jobs.transitions import now

SMALL = 256 * 1024  # bytes that are hashed and read on the event loop
LONGEST_ID = 200


class ReceivedHook(msgspec.Struct, frozen=True):
    """`status` is "accepted", "repeated", "ignored" or "pong"."""

    status: str
    jobs: list[Submitted] = []


class Hooks:
    def __init__(self, core: Core) -> None:
        self._core = core
        self._settings: DocsSettings = core.app_settings

    async def receive(self, headers: Mapping[str, str], body: bytes) -> ReceivedHook:
        """`headers` are by their names in lower case. Raises HooksNotConfigured, SignatureInvalid, InvalidArgument and
        DeliveryDiffers."""
        if not self._settings.webhook_secret:
            raise HooksNotConfigured
        delivery = headers.get("x-github-delivery", "")
        if len(delivery) > LONGEST_ID or not delivery.isprintable():
            raise InvalidArgument("the delivery's id is too long, or no text")
        read = partial(self._read, headers.get("x-hub-signature-256"), headers.get("x-github-event", ""), body)
        event, digest = read() if len(body) <= SMALL else await asyncio.to_thread(read)
        async with self._core.queue.transaction() as transaction:
            note = partial(rows.note_delivery, delivery, digest)
            if delivery and not await transaction.run(note, name="docs.hook"):
                return ReceivedHook("repeated")
            return await self._follow(event, transaction)

    def _read(self, signature: str | None, name: str, body: bytes) -> tuple[RepositoryEvent, str]:
        """With the digest of the delivery. The signature first: nothing is read of what a stranger sent."""
        check_signature(self._settings.webhook_secret, body, signature)
        return read_event(name, body), hashlib.sha256(name.encode() + b"\n" + body).hexdigest()

    async def _follow(self, event: RepositoryEvent, transaction: Transaction) -> ReceivedHook:
        match event.what:
            case "ping":
                return ReceivedHook("pong")
            case "push":
                return ReceivedHook("accepted", await self._sync(event, transaction))
            case "delete":
                jobs = [await submit_audit(self._core.queue, name, within=transaction) for name in event.names]
                return ReceivedHook("accepted", jobs)
            case "rename":
                await self._rename(event, transaction)
                return ReceivedHook("accepted", await self._sync(event, transaction))
        return ReceivedHook("ignored")

    async def _sync(self, event: RepositoryEvent, transaction: Transaction) -> list[Submitted]:
        """Of every binding to the branch or tag that was pushed to; after a rename, to any: a sync that runs has read another
        address, and saves nothing."""
        jobs = []
        for name in event.names:
            find = partial(template_rows.list_bindings_of_repository, name, event.git_ref)
            for binding in await transaction.run(find, name="docs.hook"):
                jobs.append(await submit_sync(self._core.queue, binding, actor="webhook", within=transaction))
        return jobs

    async def _rename(self, event: RepositoryEvent, transaction: Transaction) -> None:
        parse_git_address(event.clone_url, self._settings.git_allow)
        for old in set(event.old_names) - set(event.names):
            await transaction.run(partial(_move_repository, old, event.clone_url), name="docs.hook")


def _move_repository(old: str, git_url: str) -> Work[None]:
    moment = yield from now()
    yield from template_rows.move_repository(old, git_url, repository_name(git_url))
    for project in (yield from ref_rows.list_projects_with_git()):
        if repository_name(project.git_url) == old:
            fields = {"id": project.id, "git_url": git_url, "old_git_url": project.git_url, "now": moment}
            yield Statement("docs.save_git_url", fields)
