"""How the machine is run: the same way from pytest and from the command line."""

from collections.abc import Callable, Iterator

import hypothesis
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.machine.machine import QueueMachine

ROUND = 500  # Hypothesis remembers every story of a run, a quarter of a megabyte each


def run(
    machine: type[QueueMachine] = QueueMachine,
    *,
    examples: int,
    steps: int,
    seed: int = 0,
    shrink: bool = True,
    after: Callable[[int, int], None] = lambda seed, count: None,
) -> None:
    """Play `examples` stories of `steps` steps, in rounds of their own seeds: the same seed, the same stories.

    Raises what the shortest story that breaks a promise raises, with that story as its note.
    """
    for number, count in _rounds(seed, examples):
        run_state_machine_as_test(
            hypothesis.seed(number)(type(machine.__name__, (machine,), {})),
            settings=settings(
                max_examples=count,
                stateful_step_count=steps,
                phases=[Phase.generate, Phase.shrink] if shrink else [Phase.generate],
                derandomize=True,  # no database either: a run owes nothing to the last one
                deadline=None,
                report_multiple_bugs=False,
                suppress_health_check=list(HealthCheck),
            ),
        )
        after(number, count)


def _rounds(seed: int, examples: int) -> Iterator[tuple[int, int]]:
    while examples > 0:
        yield seed, min(examples, ROUND)
        seed, examples = seed + 1, examples - ROUND
