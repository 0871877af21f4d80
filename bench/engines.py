"""What the benches of the engines share: how much they do, and which engines can work here."""

import os
from dataclasses import dataclass

from bench import place
from bench.figure import say
from pressroom.renderers import catalogue


@dataclass(frozen=True)
class EngineSizes:
    rounds: int
    seconds: float  # that one side of a round takes, where it can be chosen
    slow_rounds: int  # of what takes seconds each, such as starting a browser
    one_in: int  # of the diagrams that a browser must draw


FULL = EngineSizes(rounds=15, seconds=0.5, slow_rounds=9, one_in=1)
QUICK = EngineSizes(rounds=3, seconds=0.15, slow_rounds=2, one_in=12)


def find_packages() -> None:
    """The engines of Node and of the browser are where the tests keep theirs, unless somebody says otherwise."""
    os.environ.setdefault("PRESSROOM_ENGINES", str(place.ROOT / ".cache" / "engines"))


def here(name: str) -> bool:
    """Whether an engine can work on this machine. If not, whoever waits is told what would mend it."""
    missing = catalogue.get_engine(name).missing()
    if missing:
        say(f"  {name} cannot work here, so it is left out: {missing.what}; to mend it: {missing.install}")
    return missing is None
