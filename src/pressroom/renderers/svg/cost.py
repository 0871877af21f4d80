"""How many elements an SVG comes to once it is drawn.

Ten <use> of ten <use> of ten are few bytes and a thousand shapes, and so are patterns within patterns. A renderer finds out by
drawing them; this only counts.
"""

import re
from collections.abc import Mapping

ROOT = ""
LOCAL_REFERENCE = re.compile(r"url\(\s*[\"']?#([^)\"']+)")


class DrawingCost:
    def __init__(self) -> None:
        self._own = {ROOT: 0}  # elements that belong to an id, outside of the ids within it
        self._draws: dict[str, list[str]] = {ROOT: []}
        self._holders = [ROOT]

    def enter_element(self, attributes: Mapping[str, str]) -> None:
        holder, id = self._holders[-1], attributes.get("id")
        if id and id not in self._own:
            self._draws[holder].append(id)
            self._own[id], self._draws[id] = 0, []
            holder = id
        self._own[holder] += 1
        self._holders.append(holder)
        for name, value in attributes.items():
            if name.endswith("href") and value.startswith("#"):
                self._draws[holder].append(value[1:])
            elif "url(" in value:
                self._draws[holder].extend(LOCAL_REFERENCE.findall(value))

    def leave_element(self) -> None:
        self._holders.pop()

    def total(self) -> int:
        """What contains itself is cut, as every renderer cuts it."""
        totals: dict[str, int] = {}
        opened: set[str] = set()
        waiting = [ROOT]
        while waiting:
            id = waiting[-1]
            if id in opened or id in totals:
                waiting.pop()
                totals.setdefault(id, self._own[id] + sum(totals.get(drawn, 0) for drawn in self._draws[id]))
            else:
                opened.add(id)
                waiting.extend(drawn for drawn in self._draws[id] if drawn in self._own and drawn not in opened)
        return totals[ROOT]
