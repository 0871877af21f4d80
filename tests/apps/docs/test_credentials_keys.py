"""Credentials are written and never read; keys are of a file or of OpenBao (Q32)."""

import asyncio
import base64
import json
import logging
import os
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import hvac
import pytest

from pressroom.apps.docs.credentials.local_keys import LocalKeys
from pressroom.apps.docs.credentials.model import CredentialDraft, NewSecret, OrgService, ServiceChanges, ServiceDraft
from pressroom.apps.docs.credentials.providers import CREDENTIAL_FIELDS, SERVICE_PROVIDERS
from pressroom.apps.docs.credentials.vault_transit import VaultTransit
from pressroom.apps.docs.errors import (
    CredentialInUse,
    CredentialNotFound,
    KeysUnavailable,
    LabelTaken,
    OrgNotFound,
    ProviderMismatch,
    ServiceInUse,
    ServiceNotFound,
)
from pressroom.apps.docs.settings import DocsSettings
from pressroom.apps.docs.store import credentials as rows
from pressroom.errors import CannotUnseal, InvalidArgument, Transient
from pressroom.model import Status
from tests import looking
from tests.apps.docs.pubs_stage import PubsStage, pubs_stage
from tests.servers import TransitServer, openbao

CANARY = "canary-5f2b1c-secret"
DRAFT = CredentialDraft(label="token", provider="bearer", credentials={"token": CANARY})

type Staged = AbstractAsyncContextManager[PubsStage]


@pytest.fixture(scope="module")
def bao(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TransitServer]:
    with openbao(tmp_path_factory.mktemp("openbao")) as server:
        yield server


@pytest.fixture
def judge(bao: TransitServer) -> hvac.Client:
    return hvac.Client(url=bao.address, token=bao.token)


@pytest.fixture(params=["file", "openbao"])
def settings(request: pytest.FixtureRequest, tmp_path: Path) -> DocsSettings:
    """Both ways to encrypt. The keys in OpenBao have names of their own for each test."""
    if request.param == "file":
        return DocsSettings(keyring=str(tmp_path / "keys"))
    server = request.getfixturevalue("bao")
    return DocsSettings(vault_addr=server.address, vault_token=server.token, vault_key_prefix=f"{tmp_path.name[:40]}-")


@asynccontextmanager
async def with_orgs(database: str, settings: DocsSettings) -> AsyncIterator[PubsStage]:
    async with pubs_stage(database, settings=settings) as stage:
        for slug in ("acme", "umbrella"):
            await stage.new_org(slug)
        if settings.keyring and database.startswith("postgresql"):
            await stage.app.credentials.rotate_keys(actor="test")  # a file beside a server is not made by itself
        yield stage


async def test_a_credential_is_written_and_never_read(database: str, settings: DocsSettings, caplog: Any) -> None:
    caplog.set_level(logging.DEBUG)
    async with with_orgs(database, settings) as stage:
        credentials = stage.app.credentials

        made = await credentials.create("acme", DRAFT, actor="anna")

        assert (made.label, made.provider, made.key_version) == ("token", "bearer", 1)
        assert await credentials.list("acme") == [made]
        assert await credentials.list("umbrella") == []
        assert await credentials.open_secret("acme", "token") == {"token": CANARY}
        stored = looking.rows(database, "SELECT ciphertext FROM docs_credential")
        assert len(stored) == 1
        assert stored[0][0].startswith("vault:v1:")
        audit = looking.rows(database, "SELECT who, action, target, after FROM audit")
        assert ("anna", "docs.credential.create", "token") in [row[:3] for row in audit]
        assert CANARY not in repr([stored, audit, made, DRAFT])
        assert base64.b64encode(CANARY.encode()).decode() not in repr(stored)
    assert CANARY not in caplog.text


async def test_a_secret_is_replaced_under_its_label(database: str, settings: DocsSettings) -> None:
    async with with_orgs(database, settings) as stage:
        credentials = stage.app.credentials
        await credentials.create("acme", DRAFT, actor="anna")

        await credentials.replace("acme", "token", NewSecret(credentials={"token": "another"}), actor="anna")

        assert await credentials.open_secret("acme", "token") == {"token": "another"}
        with pytest.raises(LabelTaken):
            await credentials.create("acme", DRAFT, actor="anna")
        await credentials.create("umbrella", DRAFT, actor="anna")
        with pytest.raises(CredentialNotFound):
            await credentials.replace("acme", "nothing", NewSecret(credentials={"token": "x"}), actor="anna")
        with pytest.raises(OrgNotFound):
            await credentials.create("nobody", DRAFT, actor="anna")


async def test_a_ciphertext_moved_to_another_organisation_does_not_decrypt(database: str, settings: DocsSettings) -> None:
    async with with_orgs(database, settings) as stage:
        credentials = stage.app.credentials
        await credentials.create("acme", DRAFT, actor="anna")
        await credentials.create("umbrella", DRAFT, actor="anna")
        stored = await stage.database.read(partial(rows.get_credential, "acme", "token"))

        await stage.run(partial(rows.replace_credential, "umbrella", "token", stored.ciphertext))

        with pytest.raises(CannotUnseal) as refused:
            await credentials.open_secret("umbrella", "token")
        assert CANARY not in str(refused.value)
        assert await credentials.open_secret("acme", "token") == {"token": CANARY}


@pytest.mark.parametrize("broken", ["vault:v1:", "vault:v1:AAAA", "vault:v99:AAAA", "vault:vx:AAAA", "vault:v1:é"])
async def test_a_ciphertext_that_was_changed_is_refused_with_a_code(file: str, settings: DocsSettings, broken: str) -> None:
    async with with_orgs(file, settings) as stage:
        await stage.app.credentials.create("acme", DRAFT, actor="anna")
        await stage.run(partial(rows.replace_credential, "acme", "token", broken))

        with pytest.raises(CannotUnseal):
            await stage.app.credentials.open_secret("acme", "token")


async def test_q32_credentials_with_an_older_key_are_rewrapped_without_their_plaintext(
    database: str, settings: DocsSettings
) -> None:
    """Q32"""
    async with with_orgs(database, settings) as stage:
        credentials = stage.app.credentials
        for org in ("acme", "umbrella"):
            await credentials.create(org, DRAFT, actor="anna")
        changed = [(await credentials.get(org, "token")).date_changed for org in ("acme", "umbrella")]

        rotated = await credentials.rotate_keys(actor="anna")
        newest = rotated[0].version
        await credentials.create(
            "acme", CredentialDraft(label="new", provider="fastly", credentials={"api_token": "n"}), actor="a"
        )
        ended = await stage.run_job("docs.credential_rewrap")

        assert (ended.status, ended.result) == (Status.COMPLETED, {"rewrapped": 2, "current": 1, "replaced": 0})
        assert ended.progress is not None
        assert [row[0].split(":")[1] for row in looking.rows(database, "SELECT ciphertext FROM docs_credential")] == [
            f"v{newest}"
        ] * 3
        assert [(await credentials.get(org, "token")).date_changed for org in ("acme", "umbrella")] == changed
        for org in ("acme", "umbrella"):
            assert await credentials.open_secret(org, "token") == {"token": CANARY}
            assert (await credentials.get(org, "token")).key_version == newest

        again = await stage.run_job("docs.credential_rewrap")
        assert again.result == {"rewrapped": 0, "current": 3, "replaced": 0}


async def test_q32_a_secret_that_is_replaced_during_a_rewrap_stays(file: str, settings: DocsSettings) -> None:
    """Q32: compare and set on the old ciphertext."""
    async with with_orgs(file, settings) as stage:
        credentials = stage.app.credentials
        await credentials.create("acme", DRAFT, actor="anna")
        await credentials.rotate_keys(actor="anna")
        rewrap = credentials.cipher.rewrap

        async def rewrap_slowly(org: str, ciphertext: str) -> str:
            wrapped = await rewrap(org, ciphertext)
            await credentials.replace("acme", "token", NewSecret(credentials={"token": "newer"}), actor="anna")
            return wrapped

        credentials.cipher.rewrap = rewrap_slowly  # type: ignore[method-assign]
        ended = await stage.run_job("docs.credential_rewrap")

        assert ended.result == {"rewrapped": 0, "current": 0, "replaced": 1}
        assert await credentials.open_secret("acme", "token") == {"token": "newer"}


async def test_q32_one_organisation_that_fails_does_not_stop_the_others(file: str, settings: DocsSettings) -> None:
    async with with_orgs(file, settings) as stage:
        credentials = stage.app.credentials
        for org in ("acme", "umbrella"):
            await credentials.create(org, DRAFT, actor="anna")
        await credentials.rotate_keys(actor="anna")
        await stage.run(partial(rows.replace_credential, "acme", "token", "vault:v1:AAAABBBBCCCC"))

        ended = await stage.run_job("docs.credential_rewrap")

        assert ended.status is Status.COMPLETED_WITH_ERRORS
        assert ended.progress is not None
        assert [failed["slug"] for failed in ended.progress["orgs_failed"]] == ["acme"]
        assert (await credentials.get("umbrella", "token")).key_version == 2


async def test_hvac_reads_what_pressroom_encrypted_and_the_other_way_round(
    file: str, bao: TransitServer, judge: hvac.Client
) -> None:
    """hvac is another implementation of the client."""
    settings = DocsSettings(vault_addr=bao.address, vault_token=bao.token, vault_key_prefix="judged-")
    async with with_orgs(file, settings) as stage:
        await stage.app.credentials.create("acme", DRAFT, actor="anna")
        stored = looking.rows(file, "SELECT ciphertext FROM docs_credential")[0][0]

        plaintext = judge.secrets.transit.decrypt_data("judged-acme", ciphertext=stored)["data"]["plaintext"]

        assert json.loads(base64.b64decode(plaintext)) == {"token": CANARY}
        theirs = base64.b64encode(b'{"token":"from hvac"}').decode()
        encrypted = judge.secrets.transit.encrypt_data("judged-acme", plaintext=theirs)["data"]["ciphertext"]
        await stage.run(partial(rows.replace_credential, "acme", "token", encrypted))
        assert await stage.app.credentials.open_secret("acme", "token") == {"token": "from hvac"}
        judge.secrets.transit.rotate_key("judged-acme")
        assert (await stage.run_job("docs.credential_rewrap")).result == {"rewrapped": 1, "current": 0, "replaced": 0}


@pytest.mark.parametrize(("address", "token"), [("http://127.0.0.1:9", "t"), (None, "a-wrong-token-canary")])
async def test_a_vault_that_refuses_or_is_gone_is_a_code_without_secrets(
    file: str, bao: TransitServer, address: str | None, token: str
) -> None:
    settings = DocsSettings(vault_addr=address or bao.address, vault_token=token)
    async with with_orgs(file, settings) as stage:
        with pytest.raises(KeysUnavailable) as refused:
            await stage.app.credentials.create("acme", DRAFT, actor="anna")

        assert refused.value.code == "keys_unavailable"
        assert token not in str(refused.value) or token == "t"
        assert CANARY not in str(refused.value)
        assert await stage.app.credentials.list("acme") == []


async def test_the_file_of_keys_is_private_and_keeps_every_version(tmp_path: Path) -> None:
    file = tmp_path / "keys"
    keys = LocalKeys(file, creates=True)
    old = await keys.encrypt("acme", b"secret")

    assert oct(file.stat().st_mode & 0o777) == "0o600"
    assert await keys.rotate(None) == 2
    assert await keys.decrypt("acme", old) == b"secret"
    new = await LocalKeys(file, creates=False).rewrap("acme", old)
    assert (old[:9], new[:9]) == ("vault:v1:", "vault:v2:")
    assert await keys.decrypt("acme", new) == b"secret"

    file.chmod(0o644)
    with pytest.raises(KeysUnavailable, match="chmod 600"):
        await keys.decrypt("acme", new)


async def test_keys_that_were_lost_are_not_replaced_by_others_of_the_same_number(file: str, tmp_path: Path) -> None:
    """Q32: with the file restored from a backup, what another key of its number encrypted could not be decrypted any more."""
    keyring = tmp_path / "keys"
    async with with_orgs(file, DocsSettings(keyring=str(keyring))) as stage:
        credentials = stage.app.credentials
        await credentials.create("acme", DRAFT, actor="anna")
        kept = keyring.rename(tmp_path / "backup")

        with pytest.raises(KeysUnavailable, match="version 1 of the key, and the file of keys has none above 0"):
            await credentials.create("umbrella", DRAFT, actor="anna")
        assert not keyring.exists()
        with pytest.raises(Transient, match="it is of version 1 of the key, and the newest that is there is 0"):
            await stage.app.credential_rewrap._rewrap("acme", Counter())

        assert (await credentials.rotate_keys(actor="anna"))[0].version == 2
        await credentials.create("umbrella", DRAFT, actor="anna")
        assert (await credentials.get("umbrella", "token")).key_version == 2
        keyring.write_text(kept.read_text() + keyring.read_text())
        for org in ("acme", "umbrella"):
            assert await credentials.open_secret(org, "token") == {"token": CANARY}


async def test_a_rotation_that_was_killed_leaves_no_copy_of_the_keys(tmp_path: Path) -> None:
    keys = LocalKeys(tmp_path / "keys", creates=True)
    ciphertext = await keys.encrypt("acme", b"secret")
    half_written = tmp_path / ".keys.new"
    half_written.write_text("1:AAAA")

    assert await keys.rotate(None) == 2
    assert not half_written.exists()
    assert await keys.decrypt("acme", ciphertext) == b"secret"


async def test_two_processes_that_rotate_at_once_make_two_versions(tmp_path: Path) -> None:
    keys = [LocalKeys(tmp_path / "keys", creates=True) for _ in range(4)]
    first = await asyncio.gather(*(one.encrypt("acme", b"secret") for one in keys))
    versions = await asyncio.gather(*(one.rotate(None) for one in keys))

    assert {ciphertext[:9] for ciphertext in first} == {"vault:v1:"}
    assert sorted(versions) == [2, 3, 4, 5]
    assert {await keys[0].decrypt("acme", ciphertext) for ciphertext in first} == {b"secret"}


@pytest.mark.parametrize("text", ["", "1:AAAA\n", "x\n", "1:é\n", "1:" + "A" * 44 + "\n2\n"])
async def test_a_damaged_file_of_keys_is_said_so(tmp_path: Path, text: str) -> None:
    file = tmp_path / "keys"
    file.write_text(text)
    file.chmod(0o600)

    with pytest.raises((KeysUnavailable, CannotUnseal)):
        await LocalKeys(file, creates=False).decrypt("acme", "vault:v1:AAAA")


async def test_on_a_server_no_keys_come_about_by_themselves(tmp_path: Path) -> None:
    """Processes on other machines would not have them."""
    keys = LocalKeys(tmp_path / "keys", creates=False)

    with pytest.raises(KeysUnavailable, match="keys rotate"):
        await keys.encrypt("acme", b"secret")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("provider", sorted(CREDENTIAL_FIELDS))
@pytest.mark.parametrize("wrong", ["none", "more", "empty", "number", "control", "huge"])
async def test_wrong_credentials_are_refused_and_not_repeated(file: str, provider: str, wrong: str) -> None:
    fields: dict[str, Any] = dict.fromkeys(CREDENTIAL_FIELDS[provider], CANARY)
    first = CREDENTIAL_FIELDS[provider][0]
    fields |= {
        "none": {}, "more": {CANARY: CANARY}, "empty": {first: ""}, "number": {first: 7}, "control": {first: f"{CANARY}\x00"},
        "huge": {first: CANARY * 2000},
    }[wrong]  # fmt: skip
    if wrong == "none":
        del fields[first]
    async with pubs_stage(file, workers=None) as stage:
        await stage.new_org()
        with pytest.raises(InvalidArgument) as refused:
            await stage.app.credentials.create(
                "acme", CredentialDraft(label="x", provider=provider, credentials=fields), actor="anna"
            )

    assert CANARY not in str(refused.value)


@pytest.mark.parametrize("label", ["", "-a", "a-", "A", "a b", "a/b", "../a", "a\n", "a" * 65, "é"])
async def test_labels_are_short_words(file: str, label: str) -> None:
    async with pubs_stage(file, workers=None) as stage:
        await stage.new_org()
        with pytest.raises(InvalidArgument, match="a label has up to 64"):
            await stage.app.credentials.create(
                "acme", CredentialDraft(label=label, provider="bearer", credentials={"token": "t"}), actor="anna"
            )


async def test_a_service_takes_credentials_of_its_provider_only(database: str, tmp_path: Path) -> None:
    settings = DocsSettings(keyring=str(tmp_path / "keys"), publish_allow=("127.0.0.1", str(tmp_path)))
    async with with_orgs(database, settings) as stage:
        app = stage.app
        config = {"endpoint": "http://127.0.0.1:8333", "bucket": "sites"}
        draft = ServiceDraft(label="sites", provider="minio", config=config, credential_label="token")
        with pytest.raises(CredentialNotFound):
            await app.services.create("acme", draft, actor="anna")
        await app.credentials.create("acme", DRAFT, actor="anna")
        with pytest.raises(ProviderMismatch, match="takes credentials of s3; token is one of bearer"):
            await app.services.create("acme", draft, actor="anna")
        keys = {"access_key_id": "a", "secret_access_key": "b"}
        await app.credentials.create("acme", CredentialDraft(label="bucket", provider="s3", credentials=keys), actor="anna")
        service = await app.services.create(
            "acme", ServiceDraft(label="sites", provider="minio", config=config, credential_label="bucket"), actor="anna"
        )
        assert (service.category, service.config["region"]) == ("object_storage", "us-east-1")
        with pytest.raises(LabelTaken):
            await app.services.create("acme", draft.__replace__(credential_label="bucket"), actor="anna")

        with pytest.raises(CredentialInUse, match="sites"):
            await app.credentials.delete("acme", "bucket", actor="anna")
        with pytest.raises(ProviderMismatch):
            await app.services.change("acme", "sites", ServiceChanges(credential_label="token"), actor="anna")
        with pytest.raises(InvalidArgument, match="needs a credential"):
            await app.services.change("acme", "sites", ServiceChanges(credential_label=None), actor="anna")

        org = await stage.save_org(await app_org(stage), slots={"publishing_store": "sites"})
        assert org.slots == {"publishing_store": "sites"}
        with pytest.raises(ServiceInUse, match="publishing_store"):
            await app.services.delete("acme", "sites", actor="anna")
        await stage.save_org(org, slots={})
        await app.services.delete("acme", "sites", actor="anna")
        await app.credentials.delete("acme", "bucket", actor="anna")
        assert [one.label for one in await app.credentials.list("acme")] == ["token"]


async def app_org(stage: PubsStage) -> Any:
    from pressroom.apps.docs.store.orgs import get_org

    return await stage.database.read(partial(get_org, "acme"))


async def test_an_organisation_with_credentials_can_be_deleted(database: str, settings: DocsSettings) -> None:
    from pressroom.apps.docs.store.orgs import delete_org

    async with with_orgs(database, settings) as stage:
        await stage.app.credentials.create("acme", DRAFT, actor="anna")
        config = {"url": "https://cdn.example.org/purge"}
        draft = ServiceDraft(label="cdn", provider="http_purge", config=config, credential_label="token")
        await stage.app.services.create("acme", draft, actor="anna")

        await stage.run(partial(delete_org, "acme"))

        assert looking.rows(database, "SELECT count(*) FROM docs_credential")[0][0] == 0
        assert looking.rows(database, "SELECT count(*) FROM docs_service")[0][0] == 0


async def test_slots_take_services_that_can_be_published_with(file: str) -> None:
    async with pubs_stage(file, workers=None, settings=DocsSettings(publish_allow=("127.0.0.1",))) as stage:
        await stage.new_org()
        await stage.app.credentials.create(
            "acme", CredentialDraft(label="f", provider="fastly", credentials={"api_token": "t"}), actor="a"
        )
        for label, provider, config, credential in (
            ("kv", "redis", {"url": "redis://127.0.0.1:6379/0"}, None),
            ("fastly", "fastly", {"service_id": "abc"}, "f"),
            ("purge", "http_purge", {"url": "https://cdn.example.org/purge"}, None),
        ):
            draft = ServiceDraft(label=label, provider=provider, config=config, credential_label=credential)
            await stage.app.services.create("acme", draft, actor="anna")

        def check(**slots: str) -> Any:
            return stage.database.read(partial(rows.check_slots, "acme", slots))

        await check(publishing_store="kv", cdn_service="purge")
        for slots, error in (
            ({"printer": "kv"}, InvalidArgument),
            ({"publishing_store": "nothing"}, ServiceNotFound),
            ({"publishing_store": "purge"}, ProviderMismatch),
            ({"cdn_service": "fastly"}, ProviderMismatch),
        ):
            with pytest.raises(error):
                await check(**slots)


@pytest.mark.parametrize(
    ("provider", "config"),
    [
        ("folder", {"path": "/etc"}),
        ("folder", {"path": "relative"}),
        ("folder", {"path": "{allowed}/../x"}),
        ("folder", {"path": "{allowed}/link"}),
        ("redis", {"url": "redis://10.0.0.1:6379/0"}),
        ("redis", {"url": "redis://localhost:6379/0"}),
        ("redis", {"url": "rediss://user:password@kv.example.org:6379/0"}),
        ("redis", {"url": "unix:///run/redis.sock"}),
        ("redis", {"url": "rediss://kv.example.org:6379/0?ssl_cert_reqs=none&ssl_check_hostname=false"}),
        ("redis", {"url": "rediss://kv.example.org:6379/0#x"}),
        ("redis", {"url": "http://example.org"}),
        ("redis", {"url": "redis://kv.example.org:6379/0"}),
        ("minio", {"endpoint": "http://169.254.169.254", "bucket": "b"}),
        ("minio", {"endpoint": "https://[::ffff:127.0.0.1]", "bucket": "b"}),
        ("minio", {"endpoint": "file:///etc", "bucket": "b"}),
        ("http_purge", {"url": "https://127.0.0.1/purge"}),
        ("http_purge", {"url": "https://2130706433/"}),
        ("http_purge", {"url": "https://allowed.example.org#@127.0.0.1"}),
        ("http_purge", {"url": "gopher://example.org"}),
        ("http_purge", {}),
        ("http_purge", {"url": "https://example.org", "unknown": "x"}),
        ("http_purge", {"url": 7}),
        ("printer", {}),
    ],
)
async def test_services_do_not_lead_into_the_network_of_the_operator(
    file: str, tmp_path: Path, provider: str, config: dict[str, Any]
) -> None:
    allowed = tmp_path / "sites"
    allowed.mkdir()
    (allowed / "link").symlink_to("/etc")
    config = {
        name: value.replace("{allowed}", str(allowed)) if isinstance(value, str) else value for name, value in config.items()
    }
    async with pubs_stage(file, workers=None, settings=DocsSettings(publish_allow=(str(allowed),))) as stage:
        await stage.new_org()
        if (needed := SERVICE_PROVIDERS[provider].credential if provider in SERVICE_PROVIDERS else None) is not None:
            secret = dict.fromkeys(CREDENTIAL_FIELDS[needed], "x")
            await stage.app.credentials.create(
                "acme", CredentialDraft(label="x", provider=needed, credentials=secret), actor="a"
            )
        draft = ServiceDraft(label="out", provider=provider, config=config, credential_label="x" if needed else None)
        with pytest.raises(InvalidArgument):
            await stage.app.services.create("acme", draft, actor="anna")


async def test_two_organisations_do_not_publish_to_one_folder(database: str, tmp_path: Path) -> None:
    """They would overwrite, and delete, each other's sites."""
    allowed = tmp_path / "sites"
    (allowed / "acme" / "below").mkdir(parents=True)
    (allowed / "link").symlink_to(allowed / "acme")
    async with pubs_stage(database, workers=None, settings=DocsSettings(publish_allow=(str(allowed),))) as stage:
        await stage.new_org("acme")
        await stage.new_org("umbrella")

        async def create(org: str, label: str, folder: str) -> OrgService:
            draft = ServiceDraft(label=label, provider="folder", config={"path": str(allowed / folder)}, credential_label=None)
            return await stage.app.services.create(org, draft, actor="anna")

        await create("acme", "out", "acme")
        await create("acme", "again", "acme/below")
        for folder in ("acme", "acme/below", ".", "link", "link/x", "umbrella/../acme"):
            with pytest.raises(InvalidArgument, match="another organisation"):
                await create("umbrella", "out", folder)
        theirs = await create("umbrella", "out", "acme-2")
        with pytest.raises(InvalidArgument, match="another organisation"):
            await stage.app.services.change(
                "umbrella", "out", ServiceChanges(config={"path": str(allowed / "acme")}), actor="anna"
            )

        assert (await stage.app.services.get("umbrella", "out")).config == theirs.config == {"path": str(allowed / "acme-2")}


async def test_vault_settings_are_checked_together() -> None:
    assert list(DocsSettings(vault_addr="vault.example.org").problems()) == [
        "vault_addr: an address begins with https:// or http://",
        "vault_token: vault_addr is set, and there is no token for it",
    ]
    assert "vault_token" not in repr(DocsSettings(vault_addr="https://v", vault_token="x"))


async def test_a_vault_client_sends_its_token_nowhere_else(bao: TransitServer) -> None:
    vault = VaultTransit(bao.address, bao.token, mount="no-such-engine")
    with pytest.raises(KeysUnavailable, match="404"):
        await vault.encrypt("acme", b"secret")
    await vault.close()


async def test_two_changes_of_a_service_at_once_are_both_kept(database: str, tmp_path: Path) -> None:
    settings = DocsSettings(keyring=str(tmp_path / "keys"), publish_allow=("127.0.0.1",))
    async with with_orgs(database, settings) as stage:
        services = stage.app.services
        for label in ("one", "two"):
            keys = {"access_key_id": label, "secret_access_key": "b"}
            await stage.app.credentials.create(
                "acme", CredentialDraft(label=label, provider="s3", credentials=keys), actor="anna"
            )
        config = {"endpoint": "http://127.0.0.1:8333", "bucket": "sites"}
        await services.create(
            "acme", ServiceDraft(label="sites", provider="minio", config=config, credential_label="one"), actor="anna"
        )

        for bucket in ("a", "b", "c", "d"):
            label = "two" if bucket in "ac" else "one"
            await asyncio.gather(
                services.change("acme", "sites", ServiceChanges(config=config | {"bucket": bucket}), actor="anna"),
                services.change("acme", "sites", ServiceChanges(credential_label=label), actor="anna"),
            )
            service = await services.get("acme", "sites")
            assert (service.config["bucket"], service.credential_label) == (bucket, label)
