"""The addresses of pages, within the site."""

from urllib.parse import quote

from pressroom.apps.docs.model import Project

RESERVED = ("settings", "purgatory")  # pages of an organisation: a project of such a name is addressed by its id


def org_path(org: str) -> str:
    return f"/sites/{quote(org)}"


def named_project_path(org: str, slug: str, id: str) -> str:
    return f"{org_path(org)}/{id if slug in RESERVED else quote(slug)}"


def project_path(project: Project) -> str:
    return named_project_path(project.org, project.slug, project.id)


def build_path(project: Project, uid: str) -> str:
    return f"{project_path(project)}/builds/{uid}"


def edition_path(project: Project, slug: str) -> str:
    return f"{project_path(project)}/editions/{quote(slug)}"
