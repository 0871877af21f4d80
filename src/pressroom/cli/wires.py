"""What the command line needs of the rest. `wiring.py` provides it: only there are backends named."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any, Protocol

from pressroom.config import Settings
from pressroom.queue import Queue
from pressroom.webhooks import Webhooks

if TYPE_CHECKING:
    from pressroom.api.tokens import Tokens
    from pressroom.promote import Promotion, Tell


class Finding(Protocol):
    @property
    def what(self) -> str: ...
    @property
    def well(self) -> bool: ...
    @property
    def detail(self) -> str: ...
    @property
    def mend(self) -> str: ...


class Violation(Protocol):
    @property
    def check(self) -> str: ...
    @property
    def meaning(self) -> str: ...
    @property
    def job(self) -> str | None: ...
    @property
    def detail(self) -> str: ...


class Unsound(Protocol):
    @property
    def what(self) -> str: ...
    @property
    def subject(self) -> str: ...
    @property
    def detail(self) -> str: ...


class Filled(Protocol):
    @property
    def jobs(self) -> Mapping[str, int]: ...
    @property
    def secret(self) -> str: ...


class Wires(Protocol):
    def load(self, flags: Mapping[str, Any], file: str | None) -> Settings: ...

    def open(
        self, settings: Settings, *, works: bool = False, kinds: Sequence[str] | None = None
    ) -> AbstractAsyncContextManager[Queue]:
        """The queue of these settings, with the kinds of their imports. `kinds` limits which of them a worker takes."""
        ...

    async def serve(self, settings: Settings, *, works: bool, listening: Callable[[str, bool], None]) -> None:
        """Serve until stopped. `listening` is told the address as soon as it answers, and whether nobody can get in yet."""
        ...

    async def demo(self, settings: Settings, *, jobs: int, seed: int, add: bool, tell: "Tell") -> Filled:
        """Fill the database with a day of work. Raises InvalidArgument if it has jobs, unless they are to `add`."""
        ...

    def tokens(self, settings: Settings) -> AbstractAsyncContextManager["Tokens"]: ...

    def webhooks(self, settings: Settings) -> AbstractAsyncContextManager[Webhooks]: ...

    def examine(self, settings: Settings) -> Sequence[Finding]: ...

    def audit(self, settings: Settings) -> Sequence[Violation]: ...

    async def audit_artifacts(self, settings: Settings) -> Sequence[Unsound]: ...

    def rehearse_promotion(self, settings: Settings, to: str, *, artifacts_to_s3: bool) -> "Promotion": ...

    def promote(
        self, settings: Settings, to: str, *, artifacts_to_s3: bool, wait: float, tell: "Tell", note: Callable[[str], None]
    ) -> "Promotion": ...

    def migrations(self, settings: Settings, *, apply: bool) -> Sequence[str]:
        """The names of the migrations that are missing; with `apply` they are applied."""
        ...
