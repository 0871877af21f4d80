"""Runs one attack and measures what it cost: the longest callback, memory, and how `/livez` was answered meanwhile."""

import asyncio
import http.client
import threading
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from tests.attack.closed_service import ClosedService
from tests.attack.http_client import HOST, Answer, HttpClient

STALL_LIMIT = 250.0  # ms of CPU of the event loop's thread, for one callback
GROWTH_LIMIT = 50.0  # MB of the service process, after the attack and SETTLE
SETTLE = 10.0  # seconds at most in which the service may free memory
LIVENESS_TIMEOUT = 10.0  # seconds for one answer of /livez; the machine may be busy
LIVENESS_INTERVAL = 0.05
ATTACK_TIMEOUT = 180.0


@dataclass
class Attacker:
    """What an attack is given. It says by `expect` and `check` what should have happened."""

    service: ClosedService
    http: HttpClient
    objections: list[str] = field(default_factory=list)

    def token(self, scope: str, org: str = "acme") -> str:
        return self.service.tokens[f"{org} {scope}"]

    def expect(self, answer: Answer, *statuses: int, what: str = "") -> Answer:
        if answer.status not in statuses:
            expected = " or ".join(map(str, statuses))
            detail = answer.body[:200].decode(errors="replace")
            self.objections.append(f"{what + ': ' if what else ''}{answer.status} instead of {expected} {detail}".strip())
        return answer

    def check(self, is_so: object, objection: str) -> None:
        if not is_so:
            self.objections.append(objection)


type Run = Callable[[Attacker], Awaitable[None]]


@dataclass(frozen=True)
class Attack:
    name: str
    caller: str
    run: Run

    @property
    def description(self) -> str:
        return " ".join((self.run.__doc__ or "").split())


@dataclass
class Result:
    """`stall_ms` is CPU; memory is in MB, against before the attack; `livez_ms` is the slowest answer."""

    name: str
    caller: str
    stall_ms: float
    stalled_by: str
    growth_mb: float
    peak_mb: float
    livez_ms: float
    livez_failures: int
    seconds: float
    objections: list[str]

    @property
    def passed(self) -> bool:
        return not self.objections


class LivenessProbe:
    """Asks for /livez on a connection of its own, in a thread of its own."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._probe_until_stopped, name="attack-livez", daemon=True)
        self.slowest = 0.0
        self.failures: list[str] = []

    def __enter__(self) -> "LivenessProbe":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _probe_until_stopped(self) -> None:
        connection = http.client.HTTPConnection(HOST, self._port, timeout=LIVENESS_TIMEOUT)
        while not self._stop.wait(LIVENESS_INTERVAL):
            began = time.perf_counter()
            try:
                connection.request("GET", "/livez")
                answer = connection.getresponse()
                answer.read()
                if answer.status != 200:
                    self.failures.append(f"/livez was answered with {answer.status}")
            except (OSError, http.client.HTTPException) as reason:
                self.failures.append(f"/livez was not answered: {reason!r}")
                connection.close()
            self.slowest = max(self.slowest, time.perf_counter() - began)
        connection.close()


async def run_attack(service: ClosedService, attack: Attack, *, settle: float = SETTLE) -> Result:
    attacker = Attacker(service, HttpClient(service.port))
    log_began, memory_before, began = service.log_size(), service.memory(), time.monotonic()
    service.reset_stall()
    service.reset_peak()
    with LivenessProbe(service.port) as probe:
        try:
            async with asyncio.timeout(ATTACK_TIMEOUT):
                await attack.run(attacker)
        except TimeoutError:
            attacker.objections.append("an answer did not come in time")
        except Exception as reason:
            attacker.objections.append(f"the attack could not go on: {reason!r}")
        seconds = time.monotonic() - began
        stop_settling = time.monotonic() + settle
        while service.is_running and time.monotonic() < stop_settling:
            await asyncio.sleep(0.25)
            if service.memory() - memory_before < GROWTH_LIMIT / 2:
                break
    if not service.is_running:
        return Result(attack.name, attack.caller, 0, "", 0, 0, 0, len(probe.failures), seconds, ["the service has ended"])
    stall, stalled_by = service.longest_stall()
    result = Result(
        attack.name,
        attack.caller,
        stall_ms=stall * 1000,
        stalled_by=stalled_by,
        growth_mb=service.memory() - memory_before,
        peak_mb=service.memory("VmHWM") - memory_before,
        livez_ms=probe.slowest * 1000,
        livez_failures=len(probe.failures),
        seconds=seconds,
        objections=attacker.objections,
    )
    result.objections += _broken_limits(result, probe.failures, service.faults_logged(log_began))
    return result


def _broken_limits(result: Result, livez_failures: list[str], faults: list[str]) -> list[str]:
    found = []
    if result.stall_ms > STALL_LIMIT:
        found.append(f"the event loop was held for {result.stall_ms:.0f} ms of CPU by {result.stalled_by[:300]}")
    if result.growth_mb > GROWTH_LIMIT:
        found.append(f"the service grew by {result.growth_mb:.0f} MB")
    found += livez_failures[:3]
    found += [f"logged: {line}" for line in faults[:5]]
    return found
