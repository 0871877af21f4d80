"""Where readers find an edition, and by which keys caches know its pages."""

from pressroom.apps.docs.model import MAIN, Org
from pressroom.apps.docs.publishing import Site


def published_url(org: Org, site: Site) -> str | None:
    """None for an organisation without a domain of its own."""
    if not org.base_domain:
        return None
    if org.url_scheme == "subdomain":
        root = f"https://{site.project}.{org.base_domain}/"
    else:
        prefix = f"/{org.root_path_prefix.strip('/')}/" if org.root_path_prefix.strip("/") else "/"
        root = f"https://{org.base_domain}{prefix}{site.project}/"
    return root if site.edition == MAIN else f"{root}v/{site.edition}/"


def surrogate_keys(org: Org, site: Site) -> list[str]:
    """Of the pages of an edition. Those of the project's dashboard have the first one alone."""
    return [f"{org.slug}/{site.project}", f"{org.slug}/{site.project}/{site.edition}"]
