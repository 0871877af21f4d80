"""Every page of the docs app under its address.

`-` is no slug, and neither `settings` nor `purgatory` is a project here: one of such a name is addressed by its id.
"""

from typing import TYPE_CHECKING

from pressroom.api.access import Scope
from pressroom.api.routes import Routes
from pressroom.apps.docs.pages.build_page import BuildPages
from pressroom.apps.docs.pages.edition_page import EditionPages
from pressroom.apps.docs.pages.live import SiteUpdates
from pressroom.apps.docs.pages.project_page import ProjectPages
from pressroom.apps.docs.pages.purgatory_page import PurgatoryPages
from pressroom.apps.docs.pages.services_page import ServicesPages
from pressroom.apps.docs.pages.settings_page import OrgSettingsPages
from pressroom.apps.docs.pages.sites_page import SitesPages
from pressroom.apps.docs.pages.template_page import TemplatePages
from pressroom.web.site import Site

if TYPE_CHECKING:
    from pressroom.apps.docs.app import DocsApp

ORG = "/sites/{org}"
PROJECT = "/sites/{org}/{project}"
BUILD = "/sites/{org}/{project}/builds/{id}"
EDITION = "/sites/{org}/{project}/editions/{slug}"


def router(site: Site, app: "DocsApp") -> Routes:
    routes = Routes()
    sites, projects = SitesPages(app), ProjectPages(app)
    builds, editions = BuildPages(app), EditionPages(app)
    settings, templates, purgatory = OrgSettingsPages(app), TemplatePages(app), PurgatoryPages(app)

    site.get(routes, "/sites", sites.show)
    site.post(routes, "/sites", sites.create_org, needs=Scope.ADMIN)
    routes.add("/sites/-/live", SiteUpdates(site, app).stream, "GET")
    site.get(routes, ORG, sites.show_org)
    site.post(routes, ORG, sites.create_project)

    site.get(routes, f"{ORG}/settings", settings.show, needs=Scope.OPERATOR)
    site.post(routes, f"{ORG}/settings", settings.change, small=False)
    site.post(routes, f"{ORG}/settings/dry-run", settings.dry_run, small=False)
    site.post(routes, f"{ORG}/settings/delete", settings.delete, needs=Scope.ADMIN)
    site.get(routes, f"{ORG}/settings/template", templates.show_org, needs=Scope.OPERATOR)
    site.post(routes, f"{ORG}/settings/template", templates.bind_org)
    site.post(routes, f"{ORG}/settings/template/sync", templates.sync_org)
    site.post(routes, f"{ORG}/settings/template/remove", templates.unbind_org)
    _add_services(site, routes, ServicesPages(app))
    site.get(routes, f"{ORG}/purgatory", purgatory.show, needs=Scope.OPERATOR)
    site.post(routes, f"{ORG}/purgatory/{{id}}/restore", purgatory.restore)

    site.get(routes, PROJECT, projects.show)
    site.get(routes, f"{PROJECT}/change", projects.show_change, needs=Scope.OPERATOR)
    site.post(routes, f"{PROJECT}/change", projects.change, small=False)
    site.post(routes, f"{PROJECT}/dry-run", projects.dry_run, small=False)
    site.get(routes, f"{PROJECT}/template", templates.show_project, needs=Scope.OPERATOR)
    site.post(routes, f"{PROJECT}/template", templates.bind_project)
    site.post(routes, f"{PROJECT}/template/sync", templates.sync_project)
    site.post(routes, f"{PROJECT}/template/remove", templates.unbind_project)
    site.get(routes, f"{PROJECT}/dashboard", templates.send_preview)
    site.post(routes, f"{PROJECT}/editions", projects.create_edition)
    site.post(routes, f"{PROJECT}/rebuild", projects.rebuild_dashboard)
    site.post(routes, f"{PROJECT}/delete", projects.delete)

    site.get(routes, BUILD, builds.show)
    site.get(routes, f"{BUILD}/compare", builds.compare)
    site.post(routes, f"{BUILD}/delete", builds.delete)

    site.get(routes, EDITION, editions.show)
    site.post(routes, f"{EDITION}/change", editions.change)
    site.post(routes, f"{EDITION}/pin", editions.pin)
    site.post(routes, f"{EDITION}/build", editions.set_build)
    site.post(routes, f"{EDITION}/rollback", editions.roll_back)
    site.post(routes, f"{EDITION}/delete", editions.delete)
    return routes


def _add_services(site: Site, routes: Routes, services: ServicesPages) -> None:
    """Credentials are as large as the key file of a service account may be."""
    base = f"{ORG}/settings/services"
    site.get(routes, base, services.show, needs=Scope.OPERATOR)
    site.post(routes, base, services.create_service, small=False)
    site.post(routes, f"{base}/slots", services.choose_slots)
    site.post(routes, f"{base}/credentials", services.create_credential, small=False)
    site.post(routes, f"{base}/credentials/{{label}}/replace", services.replace_credential, small=False)
    site.post(routes, f"{base}/credentials/{{label}}/delete", services.delete_credential)
    site.post(routes, f"{base}/{{label}}/delete", services.delete_service)
