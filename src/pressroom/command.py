"""What the command line asks for, made of the parts that `wiring` chose."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, closing, contextmanager
from typing import TYPE_CHECKING, Any

from pressroom import backends, cli, config, import_check, registry
from pressroom.app import BUILT_IN, App, RunningApp, find_apps, schema_of, settings_types
from pressroom.config import Settings
from pressroom.dependencies import MENDS
from pressroom.errors import InvalidSettings, PackageMissing, Unusable
from pressroom.keeping.fsck import fsck as walk_artifacts
from pressroom.store.artifacts.consistency import ArtifactProblem
from pressroom.store.engine import fsck
from pressroom.store.engine.health import HealthFinding
from pressroom.store.engine.schema import Schema
from pressroom.webhooks import Webhooks
from pressroom.wiring import Pressroom

if TYPE_CHECKING:
    from pressroom.api.tokens import Tokens
    from pressroom.demo.filling import Filled
    from pressroom.promote import Promotion, Tell


class _Wires:
    def load(self, flags: Mapping[str, Any], file: str | None) -> Settings:
        return config.load(flags, file=file, find_sections=settings_types)

    def open(
        self,
        settings: Settings,
        *,
        works: bool = False,
        kinds: Sequence[str] | None = None,
        pools: Sequence[str] | None = None,
        all_but: Sequence[str] = (),
    ) -> Pressroom:
        known, schedules = registry.import_kinds(settings.imports)
        taken = [one for one in schedules if (kinds is None or one.kind in kinds) and one.kind not in all_but]
        return Pressroom(
            settings.database,
            kinds=known,
            schedules=taken,
            workers=settings.workers if works else None,
            only=kinds,
            pools=pools,
            all_but=all_but,
            settings=settings,
        )

    @asynccontextmanager
    async def work(
        self, settings: Settings, *, kinds: Sequence[str] | None, pools: Sequence[str] | None, all_but: Sequence[str]
    ) -> AsyncIterator[tuple[Pressroom, str | None]]:
        press = self.open(settings, works=True, kinds=kinds, pools=pools, all_but=all_but)
        async with AsyncExitStack() as stack:
            # Before the queue is opened and until it is closed: a worker that starts or stops slowly can be watched, too.
            address = await stack.enter_async_context(_serve_metrics(press))
            await stack.enter_async_context(press)
            yield press, address

    async def serve(self, settings: Settings, *, works: bool, listening: Callable[[str, bool], None]) -> None:
        with _needing("service"):
            from pressroom.api import memory
            from pressroom.api import serve as server
            from pressroom.api.access import is_loopback
            from pressroom.serving import compile_templates, make_service

        memory.return_large_blocks()
        host, port = settings.address
        listener = server.listen(host, port)
        if settings.home:
            os.makedirs(settings.home, exist_ok=True)
        known, schedules = registry.import_kinds(settings.imports)
        workers = settings.workers if works else None
        async with AsyncExitStack() as stack:
            stack.callback(listener.close)  # also if the database or the artifact store is refused
            press = Pressroom(settings=settings, kinds=known, schedules=schedules, workers=workers)
            await stack.enter_async_context(press)
            if not works:
                await press.check_artifact_store()
            service, application = make_service(press)
            server.heed_signals(service, settings.grace)
            shown = f"[{host}]" if ":" in host else host
            closed = not (is_loopback(host) or settings.auth_enabled or await press.tokens.any_holds())
            listening(settings.base_url or f"http://{shown}:{listener.getsockname()[1]}", closed)
            async with asyncio.TaskGroup() as together:
                together.create_task(server.serve(application, service, listener, grace=settings.grace))
                together.create_task(asyncio.to_thread(compile_templates, press, service.closing.is_set))
                if not works:
                    together.create_task(press.watch_coverage(service.closing))
                await service.closing.wait()
                await press.finish()

    async def demo(self, settings: Settings, *, jobs: int, seed: int, add: bool, tell: "Tell") -> "Filled":
        with _needing("service,engines"):
            from pressroom.demo import filling

        if settings.home:
            os.makedirs(settings.home, exist_ok=True)
        return await filling.fill(settings, jobs=jobs, seed=seed, add=add, tell=tell)

    @asynccontextmanager
    async def tokens(self, settings: Settings) -> AsyncIterator["Tokens"]:
        async with Pressroom(settings=settings, workers=None) as press:
            with _needing("service"):
                tokens = press.tokens
            yield tokens

    @asynccontextmanager
    async def webhooks(self, settings: Settings) -> AsyncIterator[Webhooks]:
        async with Pressroom(settings=settings, workers=None) as press:
            yield press.webhooks

    def find_apps(self) -> list[App]:
        return find_apps(config.find_apps_setting(sys.argv[1:]) or BUILT_IN)

    @asynccontextmanager
    async def app(self, settings: Settings, name: str, *, works: bool) -> AsyncIterator[RunningApp]:
        async with Pressroom(settings=settings, workers=settings.workers if works else None) as press:
            yield press.app(name)

    def require_database(self, settings: Settings) -> None:
        backends.require_database(settings)

    def examine(self, settings: Settings, *, quick: bool) -> list[HealthFinding]:
        findings = backends.examine(settings, _schema(settings))
        findings += asyncio.run(backends.examine_dependencies(settings, write=not quick))
        return findings + _examine_imports(settings)

    def audit(self, settings: Settings) -> list[fsck.Violation]:
        return backends.audit(settings, _schema(settings))

    async def audit_artifacts(self, settings: Settings, *, adopt_store: bool) -> list[ArtifactProblem]:
        async with Pressroom(settings=settings, workers=None) as press:
            if adopt_store:
                await press.adopt_artifact_store()
            return await walk_artifacts(press.rendering.blobs, press.rendering.database)

    def rehearse_promotion(self, settings: Settings, to: str, *, artifacts_to_s3: bool) -> "Promotion":
        from pressroom import promote

        return promote.rehearse(settings, _schema(settings), to, artifacts_to_s3=artifacts_to_s3)

    def promote(
        self, settings: Settings, to: str, *, artifacts_to_s3: bool, wait: float, tell: "Tell", note: Callable[[str], None]
    ) -> "Promotion":
        from pressroom import promote

        return promote.promote(
            settings, _schema(settings), to, artifacts_to_s3=artifacts_to_s3, wait=wait, tell=tell, note=note
        )

    def migrations(self, settings: Settings, *, apply: bool) -> list[str]:
        missing = backends.pending_migrations(settings, _schema(settings))
        if apply and (missing or settings.delivery == "oban"):
            asyncio.run(backends.migrate(settings, _schema(settings)))
        return [str(migration) for migration in missing]


@asynccontextmanager
async def _serve_metrics(press: Pressroom) -> AsyncIterator[str | None]:
    """Yields the address, or None if the settings name none."""
    if press.settings.metrics_address is None:
        yield None
        return
    with _needing("service"):
        from pressroom.api import serve as server
        from pressroom.api.worker_endpoint import serve_worker_endpoint
    try:
        listener = server.listen(*press.settings.metrics_address, setting="PRESSROOM_METRICS_LISTEN")
    except Unusable as reason:
        raise InvalidSettings([f"metrics_listen: {reason}"]) from None
    with closing(listener):
        async with serve_worker_endpoint(press, press.settings, lambda: press.rendering.presses, listener):
            yield f"{server.url_of(listener)}/metrics"


def _schema(settings: Settings) -> Schema:
    return schema_of(find_apps(settings.apps))


def _examine_imports(settings: Settings) -> list[HealthFinding]:
    if not settings.imports:
        return []
    problems = import_check.import_problems(settings.imports)
    mend = MENDS["import_failed"]
    failed = [
        HealthFinding("imports", False, problem.removeprefix("imports: "), mend, code="import_failed") for problem in problems
    ]
    return failed or [HealthFinding("imports", True, ", ".join(settings.imports))]


@contextmanager
def _needing(extras: str) -> Iterator[None]:
    """Packages that only some installations have."""
    try:
        yield
    except ModuleNotFoundError as missing:
        if missing.name is None or missing.name.startswith("pressroom"):
            raise
        raise PackageMissing(missing.name, extras) from None


def main() -> int:
    return cli.main(_Wires())
