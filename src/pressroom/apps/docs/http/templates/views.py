"""Template bindings as HTTP shows them."""

from datetime import datetime

import msgspec

from pressroom.apps.docs.http.api_urls import ApiUrls
from pressroom.apps.docs.store.templates import TemplateBinding
from pressroom.model import from_ms


class TemplateView(msgspec.Struct, frozen=True, kw_only=True):
    """`commit_sha` is of the template that is in use; null before the first sync that succeeded. `queue_url` is of the last
    sync's job."""

    self_url: str
    sync_url: str
    queue_url: str | None
    git_url: str
    ref: str
    root_path: str
    commit_sha: str | None
    last_sync_status: str
    last_sync_error: str | None
    date_synced: datetime | None
    date_created: datetime
    date_updated: datetime


def template_view(binding: TemplateBinding, here: str, urls: ApiUrls, *, job: str | None = None) -> TemplateView:
    """`here` is the address of the organisation or the project."""
    job = job or binding.job_uid
    return TemplateView(
        self_url=f"{here}/dashboard-template",
        sync_url=f"{here}/dashboard-template/sync",
        queue_url=None if job is None else urls.job(job),
        git_url=binding.git_url,
        ref=binding.git_ref,
        root_path=binding.root_path,
        commit_sha=binding.commit_sha,
        last_sync_status=binding.sync_status,
        last_sync_error=binding.sync_error,
        date_synced=None if binding.date_synced is None else from_ms(binding.date_synced),
        date_created=from_ms(binding.date_created),
        date_updated=from_ms(binding.date_changed),
    )
