"""What a judge says: the offences, each with those who suffered it, and the figures that show whether the run was worth it."""

from dataclasses import dataclass, field, fields


@dataclass(frozen=True)
class Findings:
    """What every judge looks for. A list is an offence; a number is a figure."""

    lost: list[str] = field(default_factory=list)
    stuck: list[str] = field(default_factory=list)
    duplicated: list[str] = field(default_factory=list)
    two_terminal: list[str] = field(default_factory=list)
    two_holders: list[str] = field(default_factory=list)
    crossed: list[str] = field(default_factory=list)
    unexpected: list[str] = field(default_factory=list)
    integrity: list[str] = field(default_factory=list)

    acked: int = 0
    recovered: int = 0
    done: float = 0.0

    @property
    def offences(self) -> dict[str, list[str]]:
        return {name: value for name, value in self._all().items() if isinstance(value, list)}

    @property
    def figures(self) -> dict[str, int | float]:
        return {name: value for name, value in self._all().items() if not isinstance(value, list)}

    @property
    def clean(self) -> bool:
        return not any(self.offences.values())

    def _all(self) -> dict[str, list[str] | int | float]:
        return {each.name: getattr(self, each.name) for each in fields(self)}
