"""Settings of the packs app: `[packs]` in the file, `PRESSROOM_PACKS_*` in the environment."""

from dataclasses import dataclass

from pressroom.config.declaration import Alias, DeclaredSettings, at_least, positive, setting


@dataclass(frozen=True)
class PacksSettings(DeclaredSettings):
    force_all_free: bool = setting(
        False, "every document counts as free, whatever its tier", aliases=(Alias("DOCS_FORCE_ALL_FREE"),)
    )
    paid_docs_visible: bool = setting(
        True,
        "paid documents that are not unlocked are listed as locked; otherwise holders of a pack's link do not see them",
        aliases=(Alias("PAID_DOCS_VISIBLE"),),
    )
    compat: bool = setting(False, "a document that was never requested has the status `queued` instead of `not_requested`")
    max_attempts: int = setting(5, "attempts at a document", at_least(1))
    max_data: int = setting(512 * 1024, "bytes of the data of a pack, as JSON", positive())
    versions: int = setting(
        0, "how many ready versions of each document keep their file; 0 is all. The newest always keeps it", at_least(0)
    )
    retention: float = setting(30 * 24 * 3600.0, "how long a deleted pack and its files can be restored", positive(unit="s"))
    link_ttl: float = setting(90 * 24 * 3600.0, "how long a pack's link works, unless it says otherwise", positive(unit="s"))
    max_batch: int = setting(64 * 1024 * 1024, "bytes of an upload of many packs", positive())
    batch_retention: float = setting(
        90 * 24 * 3600.0, "how long a batch is listed and can be retried; its packs stay", positive(unit="s")
    )
