"""How many there are, for `X-Total-Count`: units of work."""

from pressroom.model import Statement, Work


def count_orgs(only: str | None = None) -> Work[int]:
    return _count((yield Statement("docs.count_orgs", {"only": only or ""})))


def count_purgatory(org: str, project: str = "") -> Work[int]:
    """`project` is an id."""
    return _count((yield Statement("docs.count_purgatory", {"org": org, "project": project})))


def count_history(edition: str, *, include_deleted: bool, before: int) -> Work[tuple[int, int]]:
    """How many moves an edition has, and how many of them are not older than `before`."""
    asked = {"edition": edition, "deleted": int(include_deleted), "before": before}
    ((all_moves, newer),) = yield Statement("docs.count_history", asked)
    return int(all_moves), int(newer)


def _count(rows: list[tuple[int, ...]]) -> int:
    return int(rows[0][0])
