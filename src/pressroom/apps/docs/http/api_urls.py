"""Addresses of the resources of this interface."""

from urllib.parse import quote

from starlette.requests import Request

from pressroom.api.service import Service


class ApiUrls:
    """Whole ones: with the base URL of the settings, or else that of the request."""

    def __init__(self, base: str) -> None:
        self.base = base

    @classmethod
    def of(cls, service: Service, request: Request) -> "ApiUrls":
        return cls(service.address_for(request))

    def org(self, org: str) -> str:
        return f"{self.base}/orgs/{quote(org, safe='')}"

    def member(self, org: str, id: str) -> str:
        return f"{self.org(org)}/members/{id}"

    def credential(self, org: str, label: str) -> str:
        return f"{self.org(org)}/credentials/{quote(label, safe='')}"

    def service(self, org: str, label: str) -> str:
        return f"{self.org(org)}/services/{quote(label, safe='')}"

    def project(self, org: str, project: str) -> str:
        return f"{self.org(org)}/projects/{quote(project, safe='')}"

    def build(self, org: str, project: str, uid: str) -> str:
        return f"{self.project(org, project)}/builds/{uid}"

    def edition(self, org: str, project: str, edition: str) -> str:
        return f"{self.project(org, project)}/editions/{quote(edition, safe='')}"

    def purgatory(self, org: str, id: str) -> str:
        return f"{self.org(org)}/purgatory/{id}"

    def job(self, uid: str) -> str:
        return f"{self.base}/queue/jobs/{uid}"
