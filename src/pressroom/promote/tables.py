"""What a table is, as far as copying it goes, and the order in which tables may be filled."""

from collections.abc import Iterable, Mapping
from graphlib import TopologicalSorter
from typing import NamedTuple


class Table(NamedTuple):
    name: str
    columns: tuple[str, ...]
    key: tuple[str, ...]


def parents_first(tables: Iterable[Table], parents: Mapping[str, set[str]]) -> dict[str, Table]:
    """So that whatever a row refers to is there before it."""
    known = {table.name: table for table in sorted(tables)}
    order = TopologicalSorter({name: sorted(parents.get(name, set()) & known.keys() - {name}) for name in known})
    return {name: known[name] for name in order.static_order()}
