"""Who changes what packs are made with, for the audit log."""

from typing import Any

import msgspec

from pressroom.model import Work
from pressroom.store.operators.audit import AuditEntry, record


class Actor(msgspec.Struct, frozen=True, kw_only=True):
    """`audit_org` is the organisation of the entries: that of the one who acts."""

    name: str
    audit_org: str | None = None
    request_id: str = ""

    def record(self, action: str, target: str, *, before: Any = None, after: Any = None) -> Work[None]:
        """In the transaction of the change."""
        yield from record(
            AuditEntry(
                who=self.name,
                action=f"packs.{action}",
                target=target,
                before=before,
                after=after,
                org_id=self.audit_org,
                request_id=self.request_id,
            )
        )
