"""An owner migrates; a role that may create nothing runs the service, with the GRANTs of docs/deployment.md and no others."""

import itertools
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest

from pressroom import Kind, Pressroom, backends
from pressroom.app import BUILT_IN_SCHEMA
from pressroom.cli import exits
from pressroom.config import Settings
from pressroom.errors import PrivilegesMissing

DOCS = Path(__file__).parents[2] / "docs" / "deployment.md"
_numbers = itertools.count(1)


def documented() -> list[str]:
    section = DOCS.read_text().partition("## Roles on PostgreSQL")[2].partition("\n## ")[0]
    return re.findall(r"```sql\n(.*?)```", section, re.DOTALL)


@dataclass
class Roles:
    """A database with nothing in it, and two roles. `admin`, `owner` and `runtime` are addresses."""

    admin: str
    owner: str
    runtime: str
    names: dict[str, str]

    def grant(self, address: str, text: str) -> None:
        for documented_name, name in self.names.items():
            text = re.sub(rf"\b{documented_name}\b", name, text)
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute(text)


@pytest.fixture
def roles(postgres_server: str, tmp_path: Path) -> Iterator[Roles]:
    number = f"{os.getpid()}_{next(_numbers)}"
    names = {"press": f"roles_{number}", "pressroom_owner": f"owner_{number}", "pressroom_runtime": f"runtime_{number}"}
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {names['press']} TEMPLATE template0")
    admin = f"{postgres_server.rpartition('/')[0]}/{names['press']}"
    user = urlsplit(admin).username
    assert user
    owner, runtime = (admin.replace(f"{user}@", f"{names[one]}@", 1) for one in ("pressroom_owner", "pressroom_runtime"))
    try:
        yield Roles(admin, owner, runtime, names)
    finally:
        with psycopg.connect(postgres_server, autocommit=True) as connection:
            connection.execute(f"DROP DATABASE {names['press']} WITH (FORCE)")
            connection.execute(f"DROP ROLE IF EXISTS {names['pressroom_owner']}, {names['pressroom_runtime']}")


def settings(database: str, home: Path, delivery: str = "embedded") -> Settings:
    return Settings(database=database, home=str(home), delivery=delivery, poll_interval=0.02, cleanup_interval=0.1)


async def echo(job: Any, payload: Any) -> Any:
    return payload


@pytest.mark.parametrize("delivery", ["embedded", "oban"])
async def test_a_role_that_may_create_nothing_runs_jobs(roles: Roles, tmp_path: Path, delivery: str, eventually: Any) -> None:
    make_roles, grants, may_make_oban, oban_grants = documented()
    roles.grant(roles.admin, make_roles)
    if delivery == "oban":
        roles.grant(roles.admin, may_make_oban)
    await backends.migrate(settings(roles.owner, tmp_path, delivery), BUILT_IN_SCHEMA)
    roles.grant(roles.owner, grants)
    if delivery == "oban":
        roles.grant(roles.owner, oban_grants)

    kinds = [Kind("echo", echo), Kind("forgotten", echo, retention=0.001)]
    async with Pressroom(settings=settings(roles.runtime, tmp_path, delivery), kinds=kinds, workers=2) as press:
        await press.check_submit()
        job = await press.submit("echo", 1)
        assert await press.wait(job, timeout=60) == 1
        delayed = await press.submit("echo", 2, delay=0.01)
        assert await press.wait(delayed, timeout=60) == 2
        await press.submit("forgotten", 3)

        async def is_pruned() -> bool:
            with psycopg.connect(roles.admin) as connection:
                return connection.execute("SELECT count(*) FROM pressroom.job WHERE kind = 'forgotten'").fetchone() == (0,)

        await eventually(is_pruned)
        status = await backends.examine_dependencies(press.settings, write=True)
        assert all(finding.well for finding in status), status

    with psycopg.connect(roles.runtime, autocommit=True) as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
        connection.execute("CREATE TABLE pressroom.mine (id int)")


async def test_a_role_that_may_create_nothing_uses_oban_in_another_schema(roles: Roles, tmp_path: Path) -> None:
    """With the GRANTs of docs/oban.md. The owner makes the schema, and needs no right on `public`."""
    make_roles, grants, *_ = documented()
    (oban_grants,) = re.findall(r"```sql\n(.*?)```", DOCS.with_name("oban.md").read_text(), re.DOTALL)
    owner, runtime = (
        replace(settings(one, tmp_path, "oban"), oban_schema="oban_tables") for one in (roles.owner, roles.runtime)
    )
    roles.grant(roles.admin, make_roles)
    await backends.migrate(owner, BUILT_IN_SCHEMA)
    roles.grant(roles.owner, grants)
    with pytest.raises(PrivilegesMissing, match="permission denied for schema oban_tables"):
        await backends.migrate(runtime, BUILT_IN_SCHEMA)
    roles.grant(roles.owner, oban_grants)

    async with Pressroom(settings=runtime, kinds=[Kind("echo", echo)], workers=2) as press:
        assert await press.wait(await press.submit("echo", 1), timeout=60) == 1
        assert await press.wait(await press.submit("echo", 2, delay=0.01), timeout=60) == 2
        assert all(one.well for one in await backends.examine_dependencies(runtime, write=True))


async def test_tables_of_a_later_migration_are_granted_by_default(roles: Roles, tmp_path: Path) -> None:
    make_roles, grants, *_ = documented()
    roles.grant(roles.admin, make_roles)
    await backends.migrate(settings(roles.owner, tmp_path), BUILT_IN_SCHEMA)
    roles.grant(roles.owner, grants)
    roles.grant(roles.owner, "CREATE TABLE pressroom.later (id bigserial PRIMARY KEY)")
    roles.grant(
        roles.runtime,
        "INSERT INTO pressroom.later DEFAULT VALUES",
    )


async def test_who_may_not_create_is_told_what_to_grant(roles: Roles, tmp_path: Path) -> None:
    make_roles, grants, *_ = documented()
    roles.grant(roles.admin, make_roles)
    owner, runtime = roles.names["pressroom_owner"], roles.names["pressroom_runtime"]

    with pytest.raises(PrivilegesMissing) as refused:
        await backends.migrate(settings(roles.runtime, tmp_path), BUILT_IN_SCHEMA)
    assert f'GRANT CREATE ON DATABASE "{roles.names["press"]}" TO "{runtime}"' in str(refused.value)
    assert exits.exit_code_for(refused.value) == exits.USAGE

    await backends.migrate(settings(roles.owner, tmp_path), BUILT_IN_SCHEMA)
    with pytest.raises(PrivilegesMissing, match="permission denied for schema pressroom"):
        await backends.migrate(settings(roles.runtime, tmp_path), BUILT_IN_SCHEMA)
    (finding,) = [one for one in backends.examine_database(settings(roles.runtime, tmp_path), BUILT_IN_SCHEMA) if not one.well]
    assert (finding.what, finding.code) == ("database", "privileges_missing")

    roles.grant(roles.owner, grants)
    with pytest.raises(PrivilegesMissing, match="oban's tables and triggers are not up to date"):
        await backends.migrate(settings(roles.runtime, tmp_path, "oban"), BUILT_IN_SCHEMA)

    # The owner of the schema needs no right to create others.
    roles.grant(roles.admin, f"REVOKE CREATE ON DATABASE press FROM {owner}")
    roles.grant(
        roles.owner,
        "DELETE FROM pressroom.pressroom_migration WHERE app = 'core' AND number = 1",
    )
    with pytest.raises(Exception, match="cannot take Pressroom's tables"):  # it is there already: past the schema
        await backends.migrate(settings(roles.owner, tmp_path), BUILT_IN_SCHEMA)
