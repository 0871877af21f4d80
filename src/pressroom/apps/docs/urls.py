"""Addresses at which readers find what is published: a project's own name or path, its editions and its dashboard."""

from urllib.parse import quote, urlsplit

from pressroom.apps.docs.model import MAIN, Org
from pressroom.apps.docs.settings import DocsSettings
from pressroom.config.addresses import split_host_and_port

_ANY_ADDRESS = ("", "0.0.0.0", "::")  # noqa: S104 - compared with, not bound to


class PublishedUrls:
    """Every address ends with a slash; what belongs to it is appended.

    An organisation with a domain has `https://{project}.{domain}/`, or `https://{domain}{prefix}{project}/`. Without one, its
    projects are below the listener for sites: `http://127.0.0.1:8001/{org}/{project}/`. Local names (`localhost`) are spoken to
    without TLS, at the port of that listener unless they name one.
    """

    def __init__(self, settings: DocsSettings) -> None:
        self._listener = settings.url.rstrip("/") or _listener_address(settings.listen)
        self._scheme = urlsplit(settings.url).scheme or "https"

    def project(self, org: Org, project: str) -> str:
        """Where `__main` is. `project` is a slug."""
        if not org.base_domain:
            return f"{self._listener}/{quote(org.slug)}/{quote(project)}/"
        scheme, domain = self._scheme, org.base_domain
        if _is_local(domain):
            scheme = "http"
            port = urlsplit(self._listener).port
            domain = domain if ":" in domain or port is None else f"{domain}:{port}"
        if org.url_scheme == "subdomain":
            return f"{scheme}://{quote(project)}.{domain}/"
        return f"{scheme}://{domain}{path_prefix(org)}{quote(project)}/"

    def edition(self, org: Org, project: str, edition: str) -> str:
        root = self.project(org, project)
        return root if edition == MAIN else f"{root}v/{quote(edition)}/"

    def dashboard(self, org: Org, project: str) -> str:
        return f"{self.project(org, project)}v/"

    def build(self, org: Org, project: str, uid: str) -> str:
        return f"{self.project(org, project)}builds/{uid}/"


def path_prefix(org: Org) -> str:
    """Of the projects of an organisation that are told apart by path: it begins and ends with a slash."""
    inner = org.root_path_prefix.strip("/")
    return f"/{inner}/" if inner else "/"


def _listener_address(listen: str) -> str:
    if not listen:
        return ""
    host, port = split_host_and_port(listen)
    host = "127.0.0.1" if host in _ANY_ADDRESS else host
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _is_local(domain: str) -> bool:
    name = domain.partition(":")[0].lower()
    return name == "localhost" or name.endswith(".localhost")
