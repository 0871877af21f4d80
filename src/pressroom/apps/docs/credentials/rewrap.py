"""Encrypt credentials anew whose key version is old (Q32)."""

import asyncio
from collections import Counter
from functools import partial
from typing import Any

from pressroom.app import Core
from pressroom.apps.docs.credentials.ciphers import version_of
from pressroom.apps.docs.operations.credentials import OrgCredentials
from pressroom.apps.docs.periodic.kinds import ORGS_AT_ONCE, periodic_kind, raise_if_all_failed
from pressroom.apps.docs.store import credentials as rows
from pressroom.errors import CannotUnseal, Transient
from pressroom.worker.context import RunningJob

NAME = "docs.credential_rewrap"


class CredentialRewrap:
    """The plaintext is not seen: the cipher decrypts and encrypts in one step, which Vault does on its own server. A secret
    that is replaced meanwhile stays, because the old ciphertext is compared."""

    def __init__(self, core: Core, credentials: OrgCredentials) -> None:
        self._core = core
        self._credentials = credentials
        self.kind = periodic_kind(NAME, self._run, core, pool="outbound")

    async def submit(self) -> None:
        await self._core.queue.submit(NAME, {}, key=NAME)

    async def _run(self, job: RunningJob, payload: Any) -> dict[str, int]:  # noqa: ARG002
        orgs = await self._core.database.read(rows.list_orgs_with_credentials)
        await job.items("orgs", orgs)
        counts: Counter[str] = Counter(rewrapped=0, current=0, replaced=0)
        slots = asyncio.Semaphore(ORGS_AT_ONCE)

        async def rewrap_one(org: str) -> None:
            async with slots, job.item(org):
                await self._rewrap(org, counts)

        results = await asyncio.gather(*map(rewrap_one, orgs), return_exceptions=True)
        await job.message(
            f"{counts['rewrapped']:,} credentials encrypted anew, {counts['current']:,} had the newest key already"
        )
        raise_if_all_failed(results)
        return dict(counts)

    async def _rewrap(self, org: str, counts: Counter[str]) -> None:
        cipher, database = self._credentials.cipher, self._core.database
        newest = await cipher.newest_version(org)
        problems: list[str] = []
        for stored in await database.read(partial(rows.list_credentials, org)):
            try:
                version = version_of(stored.ciphertext)
                if version > newest:  # rotated meanwhile, or lost
                    newest = await cipher.newest_version(org)
                if version > newest:
                    raise CannotUnseal(f"it is of version {version} of the key, and the newest that is there is {newest}")
                if version == newest:
                    counts["current"] += 1
                    continue
                ciphertext = await cipher.rewrap(org, stored.ciphertext)
            except CannotUnseal as reason:
                problems.append(f"{stored.label}: {reason}")
                continue
            written = await database.run(partial(rows.rewrap_credential, stored, ciphertext), name="credential")
            counts["rewrapped" if written else "replaced"] += 1
        if problems:
            raise Transient(f"{len(problems)} credentials could not be encrypted anew; the first: {problems[0]}")
