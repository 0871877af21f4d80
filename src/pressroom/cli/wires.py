"""What the command line needs of the rest. `wiring.py` provides it: only there are backends named."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any, Protocol

from pressroom.app import App, RunningApp
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
    @property
    def warning(self) -> str: ...
    @property
    def code(self) -> str: ...


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
        self,
        settings: Settings,
        *,
        works: bool = False,
        kinds: Sequence[str] | None = None,
        pools: Sequence[str] | None = None,
        all_but: Sequence[str] = (),
    ) -> AbstractAsyncContextManager[Queue]:
        """The queue of these settings, with the kinds of their imports.

        A worker takes all kinds, only `kinds`, or those of `pools`, and in each case `all_but` some.
        """
        ...

    def work(
        self, settings: Settings, *, kinds: Sequence[str] | None, pools: Sequence[str] | None, all_but: Sequence[str]
    ) -> AbstractAsyncContextManager[tuple[Queue, str | None]]:
        """The queue with workers, and the address of their metrics if `metrics_listen` is set.

        Raises InvalidSettings if that address cannot be listened on, and PackageMissing.
        """
        ...

    async def serve(self, settings: Settings, *, works: bool, listening: Callable[[str, bool], None]) -> None:
        """Serve until stopped. `listening` is told the address as soon as it answers, and whether nobody can get in yet."""
        ...

    async def demo(self, settings: Settings, *, jobs: int, seed: int, add: bool, tell: "Tell") -> Filled:
        """Fill the database with a day of work. Raises InvalidArgument if it has jobs, unless they are to `add`."""
        ...

    def tokens(self, settings: Settings) -> AbstractAsyncContextManager["Tokens"]: ...

    def webhooks(self, settings: Settings) -> AbstractAsyncContextManager[Webhooks]: ...

    def find_apps(self) -> Sequence[App]:
        """The apps whose commands there are: the built-in ones, and those that the environment names."""
        ...

    def app(self, settings: Settings, name: str, *, works: bool) -> AbstractAsyncContextManager[RunningApp]: ...

    def require_database(self, settings: Settings) -> None:
        """Raises DatabaseMissing where there is none yet."""
        ...

    def examine(self, settings: Settings, *, quick: bool) -> Sequence[Finding]: ...

    def audit(self, settings: Settings) -> Sequence[Violation]: ...

    async def audit_artifacts(self, settings: Settings, *, adopt_store: bool) -> Sequence[Unsound]:
        """`adopt_store` first records the artifact store of these settings as the one of this database."""
        ...

    def rehearse_promotion(self, settings: Settings, to: str, *, artifacts_to_s3: bool) -> "Promotion": ...

    def promote(
        self, settings: Settings, to: str, *, artifacts_to_s3: bool, wait: float, tell: "Tell", note: Callable[[str], None]
    ) -> "Promotion": ...

    def migrations(self, settings: Settings, *, apply: bool) -> Sequence[str]:
        """The names of the migrations that are missing; with `apply` they are applied."""
        ...
