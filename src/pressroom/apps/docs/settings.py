"""Settings of the docs app: `[docs]` in the file, `PRESSROOM_DOCS_*` in the environment."""

from collections.abc import Iterator
from dataclasses import dataclass

from pressroom.config.addresses import is_host_and_port
from pressroom.config.declaration import DeclaredSettings, ValueCheck, at_least, positive, setting


@dataclass(frozen=True)
class DocsSettings(DeclaredSettings):
    listen: str = setting(
        "127.0.0.1:8001",
        "where sites are served by `pressroom serve`; empty: nowhere. The default is used once there is an organisation; "
        "if it is taken then, that is logged and sites are not served. Any other address is used from the start",
        ValueCheck(lambda value: not value or is_host_and_port(value), "{!r} is not HOST:PORT"),
    )
    url: str = setting(
        "", "the address of that listener as readers see it, such as `https://docs.example.org`; empty: where it listens"
    )
    job_retention: float = setting(7 * 24 * 3600.0, "how long ended jobs of this app are kept", positive(unit="s"))
    max_upload: int = setting(500 * 1024 * 1024, "bytes of an uploaded archive", positive())
    max_files: int = setting(50_000, "files of a build", positive())
    max_size: int = setting(2 * 1024 * 1024 * 1024, "bytes of a build when it is unpacked", positive())
    upload_ttl: float = setting(3600.0, "how long the address for an upload works", positive(unit="s"))
    git_allow: tuple[str, ...] = setting(
        (), "hosts and folders that git addresses may name although they are private: `git.internal`, `/srv/git`"
    )
    webhook_secret: str = setting(
        "",
        "what git hosts sign their webhooks with, or several secrets separated by spaces; empty: none are accepted",
        secret=True,
    )
    max_attempts: int = setting(3, "attempts at a build or at the move of an edition", at_least(1))
    publish_allow: tuple[str, ...] = setting(
        (),
        "hosts and folders that services of organisations may name although they are private: `redis.internal`, `/srv/sites`",
    )
    keyring: str = setting(
        "", "the file of the keys that credentials are encrypted with; empty: beside the database, if that is a file"
    )
    vault_addr: str = setting(
        "", "a Vault or OpenBao whose transit engine encrypts credentials, in place of the file `keyring`"
    )
    vault_token: str = setting("", "the token for it", secret=True)
    vault_mount: str = setting("transit", "where its transit engine is mounted")
    vault_key_prefix: str = setting("pressroom-docs-", "how the names of its keys begin; the slug of the organisation follows")

    def problems(self) -> Iterator[str]:
        yield from super().problems()
        if self.vault_addr and not self.vault_addr.startswith(("https://", "http://")):
            yield "vault_addr: an address begins with https:// or http://"
        if self.vault_addr and not self.vault_token:
            yield "vault_token: vault_addr is set, and there is no token for it"
        if self.vault_addr and self.keyring:
            yield "keyring: credentials are encrypted by a file of keys or by vault_addr, not by both"
