"""All routes of the docs app."""

from collections.abc import Iterable
from itertools import chain
from typing import TYPE_CHECKING

from pressroom.api.routes import Route
from pressroom.api.service import Service
from pressroom.apps.docs.http.builds import routes as build_routes
from pressroom.apps.docs.http.credentials import routes as credential_routes
from pressroom.apps.docs.http.editions import routes as edition_routes
from pressroom.apps.docs.http.hooks import routes as hook_routes
from pressroom.apps.docs.http.lifecycle import routes as lifecycle_routes
from pressroom.apps.docs.http.members import routes as member_routes
from pressroom.apps.docs.http.orgs import routes as org_routes
from pressroom.apps.docs.http.problems import with_error_list
from pressroom.apps.docs.http.projects import routes as project_routes
from pressroom.apps.docs.http.purgatory import routes as purgatory_routes
from pressroom.apps.docs.http.queue_jobs import routes as queue_job_routes
from pressroom.apps.docs.http.search import routes as search_routes
from pressroom.apps.docs.http.templates import routes as template_routes

if TYPE_CHECKING:
    from pressroom.apps.docs.app import DocsApp

# Each has a function `router(service, app)`. Routes are tried in this order, so the busy ones come first.
PARTS = (
    queue_job_routes,
    build_routes,
    edition_routes,
    project_routes,
    org_routes,
    member_routes,
    purgatory_routes,
    lifecycle_routes,
    search_routes,
    credential_routes,
    template_routes,
    hook_routes,
)


def router(service: Service, app: "DocsApp") -> Iterable[Route]:
    return [with_error_list(route) for route in chain.from_iterable(part.router(service, app) for part in PARTS)]
