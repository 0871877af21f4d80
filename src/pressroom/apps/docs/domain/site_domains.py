"""Whether sites of two organisations are found under the same host names."""

from typing import NamedTuple


class SiteDomain(NamedTuple):
    """Where an organisation has its sites: on a host, or with `is_parent` on the names directly below it."""

    host: str
    is_parent: bool

    @classmethod
    def of(cls, base_domain: str, url_scheme: str) -> "SiteDomain | None":
        """None without a domain. A port does not tell two domains apart: the edge does not look at it."""
        host = base_domain.partition(":")[0]
        return cls(host, url_scheme == "subdomain") if host else None

    def overlaps(self, other: "SiteDomain") -> bool:
        if self.host == other.host:
            return True
        return (self.is_parent and other.host.partition(".")[2] == self.host) or (
            other.is_parent and self.host.partition(".")[2] == other.host
        )
