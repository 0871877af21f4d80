"""`./dev attack`: one attack after the other upon a service that needs tokens, and a table of what each cost.

An attack passes if it was answered as it should be, no callback held the event loop for more than 250 ms of CPU, the service
process grew by at most 50 MB, `/livez` was answered throughout, and nothing was logged as an error. All traffic stays on
127.0.0.1.
"""

import argparse
import asyncio
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

import msgspec

from tests.attack.attacks import ATTACKS
from tests.attack.closed_service import ClosedService
from tests.attack.measure import Attack, Result, run_attack
from tests.attack.warm_up import warm_up

HEADINGS = f"{'attack':32} {'caller':10} {'stall':>8} {'growth':>8} {'peak':>8} {'/livez':>8} {'took':>7}  verdict"


def main(argv: Sequence[str]) -> int:
    args = _parser().parse_args(argv)
    chosen = [ATTACKS[name] for name in args.only or ATTACKS]
    if args.list:
        for attack in chosen:
            print(f"{attack.name:32} {attack.caller:10} {attack.description}")
        return 0
    if not args.json:
        print(HEADINGS, flush=True)
    results = asyncio.run(run_attacks(chosen, show=(lambda _: None) if args.json else _print_result))
    failed = [result.name for result in results if not result.passed]
    if args.json:
        print(msgspec.json.encode([{"passed": result.passed} | asdict(result) for result in results]).decode())
    else:
        print(f"{len(results)} attacks, {len(failed)} failed{': ' + ', '.join(failed) if failed else ''}")
    return 1 if failed or len(results) < len(chosen) else 0


async def run_attacks(
    attacks: Sequence[Attack], *, show: Callable[[Result], None] = lambda _: None, imports: Sequence[str] = ()
) -> list[Result]:
    """On one service, one after the other. It ends early if the service does."""
    results = []
    with tempfile.TemporaryDirectory(prefix="pressroom-attack-") as folder:
        async with ClosedService(Path(folder), imports).running() as service:
            await warm_up(service)
            for attack in attacks:
                results.append(await run_attack(service, attack))
                show(results[-1])
                if not service.is_running:
                    break
    return results


def _print_result(result: Result) -> None:
    figures = f"{result.stall_ms:5.0f} ms {result.growth_mb:5.1f} MB {result.peak_mb:5.1f} MB {result.livez_ms:5.0f} ms"
    verdict = "pass" if result.passed else "FAIL"
    print(f"{result.name:32} {result.caller:10} {figures} {result.seconds:5.1f} s  {verdict}", flush=True)
    for objection in result.objections[:10]:
        print(f"    {objection}", flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("./dev attack", description="Send what an outsider can send, and measure what it costs.")
    parser.add_argument("--only", action="append", choices=ATTACKS, metavar="NAME", help="this attack; may be repeated")
    parser.add_argument("--list", action="store_true", help="name the attacks and run none")
    parser.add_argument("--json", action="store_true", help="results for machines instead of the table")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
