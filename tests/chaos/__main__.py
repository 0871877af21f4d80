"""`./dev chaos`: one fault after the other upon a house at work, and a table of what became of it.

Rates are jobs that ended in a second: before, during and after the fault. A row passes if nothing was lost or done twice, every
request was answered as it should be, and 95 % of the rate before was back within ten seconds of the fault's end.
"""

import argparse
import asyncio
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import msgspec

from pressroom.config import DELIVERIES
from tests.chaos.house import House
from tests.chaos.run import Outcome, Times, endure
from tests.chaos.scenarios import SCENARIOS, Scenario

SOON = 10.0  # seconds within which the rate is to be back


def main(argv: Sequence[str]) -> int:
    args = _parser().parse_args(argv)
    chosen = [SCENARIOS[name] for name in args.only or SCENARIOS]
    outcomes = []
    for delivery in args.delivery or DELIVERIES:
        mine = [scenario for scenario in chosen if delivery in scenario.deliveries]
        outcomes += asyncio.run(_on(delivery, mine, args))
    if args.json:
        print(msgspec.json.encode([{"delivery": d, "passed": not _objections(o)} | asdict(o) for d, o in outcomes]).decode())
    return 1 if any(_objections(outcome) for _, outcome in outcomes) else 0


async def _on(delivery: str, scenarios: Sequence[Scenario], args: argparse.Namespace) -> list[tuple[str, Outcome]]:
    times = Times(args.before, args.during, SOON + 4)
    outcomes = []
    if not args.json:
        print(f"\n{delivery}: {args.rate:g} jobs a second, each fault for {args.during:g} s")
        print(f"{'fault':20} {'before':>7} {'during':>7} {'after':>7} {'back in':>8}  verdict", flush=True)
    with tempfile.TemporaryDirectory(prefix="pressroom-chaos-") as folder:
        house = House(Path(folder), delivery, s3=any(scenario.renders for scenario in scenarios))
        await asyncio.to_thread(house.__enter__)
        try:
            for scenario in scenarios:
                outcome = await endure(house, scenario, times, rate=args.rate)
                outcomes.append((delivery, outcome))
                if not args.json:
                    _show(outcome)
        finally:
            await asyncio.to_thread(house.__exit__)
    return outcomes


def _show(outcome: Outcome) -> None:
    back = "never" if outcome.recovery is None else f"{outcome.recovery:.1f} s"
    found = outcome.verdict
    figures = f"acked {found.acked}, refused {found.refused}, lost {len(found.lost)}, duplicated {len(found.duplicated)}"
    word = "FAIL" if _objections(outcome) else "pass"
    rates = f"{outcome.before:7.1f} {outcome.during:7.1f} {outcome.after:7.1f}"
    print(f"{outcome.name:20} {rates} {back:>8}  {word}: {figures}", flush=True)
    for objection in _objections(outcome):
        print(f"    {objection}", flush=True)


def _objections(outcome: Outcome) -> list[str]:
    found = [
        f"{offence}: {len(those)}, such as {'; '.join(those[:3])}"
        for offence, those in outcome.verdict.offences.items()
        if those
    ]
    if outcome.recovery is None or outcome.recovery > SOON:
        found.append(f"the rate was not back within {SOON:g} s")
    if SCENARIOS[outcome.name].refuses and not outcome.verdict.refused:
        found.append("too weak: nobody was refused")
    return found


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("./dev chaos", description="Break what Pressroom stands on while it works.")
    parser.add_argument("--only", action="append", choices=SCENARIOS, metavar="NAME", help=f"one of {', '.join(SCENARIOS)}")
    parser.add_argument("--delivery", action="append", choices=DELIVERIES, help="all of them, unless told")
    parser.add_argument("--rate", type=float, default=25.0, metavar="R", help="jobs handed in each second (25)")
    parser.add_argument("--before", type=float, default=8.0, metavar="S", help="seconds of peace before a fault (8)")
    parser.add_argument("--during", type=float, default=10.0, metavar="S", help="seconds for which a fault lasts (10)")
    parser.add_argument("--json", action="store_true", help="for machines")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
