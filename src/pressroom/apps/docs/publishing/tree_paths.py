"""Where things are in a tree: the sites that readers get, and what begins with `__`, which they need not.

guide/index.html               the edition __main of the project guide
guide/v/2.0/index.html         its edition 2.0
guide/v/index.html             its dashboard
__published/acme/guide/2.0.json    what is known of the files of 2.0; __unpublished/ if it was removed
__sweep/acme/guide/2.0.json        2.0 has assets that no page uses any more
__purgatory/1790000000000/…        removed files, until that time
"""

from pressroom.apps.docs.model import MAIN, Project
from pressroom.apps.docs.publishing import PublishedSite

RECORDS, GONE, SWEEPS, PURGATORY = "__published", "__unpublished", "__sweep", "__purgatory"
OWN_FILES = frozenset({"_docverse.json", "__404.html"})  # in the folder of a site, and not the site's own


def site_folder(site: PublishedSite) -> str:
    return f"{site.project}/" if site.edition == MAIN else f"{site.project}/v/{site.edition}/"


def is_in_site(site: PublishedSite, path: str) -> bool:
    """Whether a path in the folder of a site is one of its files. `v/` has the other editions."""
    return path not in OWN_FILES and not (site.edition == MAIN and (path == "v" or path.startswith("v/")))


def marker_path(kind: str, org: str, site: PublishedSite) -> str:
    """`kind` is RECORDS, GONE or SWEEPS. Each organisation has a folder of its own: several may share a place."""
    return f"{kind}/{org}/{site.project}/{site.edition}.json"


def site_of_marker(path: str) -> PublishedSite:
    _, _, project, name = path.split("/", 3)
    return PublishedSite(project, name.removesuffix(".json"))


def purgatory_path(purge_after: int, org: str, site: PublishedSite, seq: int, path: str) -> str:
    """With the move that removed it: of two moves, one may remove a file and the other a folder of the same name."""
    return f"{PURGATORY}/{purge_after}/{org}/{site.project}/{site.edition}/{seq}/{path}"


def dashboard_path(project: Project, name: str) -> str:
    """Of a file that `Publisher.publish_dashboard` is given."""
    match name:
        case "__dashboard.html":
            return f"{project.slug}/v/index.html"
        case "__switcher.json":
            return f"{project.slug}/v/switcher.json"
        case _ if name.startswith("__editions/"):
            edition = name.removeprefix("__editions/").removesuffix(".json")
            return f"{site_folder(PublishedSite(project.slug, edition))}_docverse.json"
        case _:
            return f"{project.slug}/{name}"


def dashboard_files(project: str) -> list[str]:
    """Those of a project that belong to none of its editions."""
    return [f"{project}/v/index.html", f"{project}/v/switcher.json", f"{project}/__404.html", f"{project}/_docverse.json"]
