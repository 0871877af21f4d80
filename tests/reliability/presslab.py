"""`python -m tests.reliability.presslab --renders 1000 --mutants 5000 --seed 7`: what presses must live through, at length.

First renders are submitted as jobs while presses, Node and Chromium are killed and stopped at random; then every engine gets
mutated sources. The first line is the seed; the last line is the verdict, and the exit code follows it.
"""

import argparse
import asyncio
import os
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from pressroom.renderers import catalogue
from pressroom.renderers.node import install as node_install
from pressroom.renderers.node import installation as node_places
from tests.reliability.press_mutants import try_mutants
from tests.reliability.press_nemesis import torment

KEPT = Path(__file__).parents[2] / ".cache" / "engines"


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser("presslab", description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--renders", type=int, default=1_000, metavar="N", help="renders under fire (1000; 0 for none)")
    parser.add_argument("--mutants", type=int, default=5_000, metavar="N", help="mutated sources per engine (5000; 0 for none)")
    parser.add_argument("--engines", nargs="*", metavar="NAME", help="only these get mutants")
    parser.add_argument("--seed", type=int, default=random.randrange(1_000_000), metavar="S", help="replay these faults")
    args = parser.parse_args(argv)
    print(f"seed: {args.seed}", flush=True)
    os.environ.setdefault("PRESSROOM_ENGINES", str(KEPT))
    if node_places.find_node() is not None:
        node_install.install()
    began = time.monotonic()
    figures, reasons = asyncio.run(_run(args))
    for reason in reasons:
        print(reason, file=sys.stderr)
    figures["seconds"] = round(time.monotonic() - began)
    verdict = "FAIL" if reasons else "PASS"
    print(f"verdict: {verdict} " + " ".join(f"{name}={value}" for name, value in figures.items()))
    return 1 if reasons else 0


async def _run(args: argparse.Namespace) -> tuple[dict[str, object], list[str]]:
    figures: dict[str, object] = {}
    reasons: list[str] = []
    if args.renders:
        folder = Path(tempfile.mkdtemp(prefix="pressroom-lab-"))
        toll = await torment(folder, args.renders, args.seed)
        figures |= toll.figures()
        reasons += toll.objections()
        if toll.objections():
            print(f"the database and the artifacts are in {folder}", file=sys.stderr)
        else:
            shutil.rmtree(folder)
    totals = {"mutants": 0, "made": 0, "refused": 0, "mutants_crashed": 0, "mutants_slow": 0}
    for name in (args.engines or [engine.name for engine in catalogue.engines()]) if args.mutants else ():
        if missing := catalogue.get_engine(name).missing():
            print(f"{name}: left out: {missing.what}", file=sys.stderr)
            continue
        began = time.monotonic()
        tried = await try_mutants(name, args.mutants, args.seed)
        shown = " ".join(f"{key}={value}" for key, value in tried.figures().items())
        print(f"{name}: {shown} seconds={time.monotonic() - began:.0f}", flush=True)
        for kind, victims in (("crashed", tried.crashed), ("slow", tried.slow)):
            for source in victims[:5]:
                print(f"{name}: {kind}: {source[:400]!r}", flush=True)
        reasons += tried.objections()
        totals["mutants"] += tried.sources
        totals["made"] += tried.made
        totals["refused"] += tried.refused.total()
        totals["mutants_crashed"] += len(tried.crashed)
        totals["mutants_slow"] += len(tried.slow)
    return figures | (totals if args.mutants else {}), reasons


if __name__ == "__main__":
    sys.exit(main())
