"""Settings of the diagrams app: `[diagrams]` in the file, `PRESSROOM_DIAGRAMS_*` in the environment."""

from dataclasses import dataclass

from pressroom.config.declaration import Alias, DeclaredSettings, ValueCheck, at_least, milliseconds, positive, setting


@dataclass(frozen=True)
class DiagramsSettings(DeclaredSettings):
    cache_ttl: float = setting(
        7 * 24 * 3600.0,
        "how long a picture is found again by its source; its short link works for as long. A hit with less than a "
        "minute left is renewed",
        positive(unit="s"),
        aliases=(milliseconds("CACHE_TTL"),),
    )
    kept_link_ttl: float = setting(
        30 * 24 * 3600.0,
        "how long a link kept in the playground works after its last use; its source lives as long",
        positive(unit="s"),
    )
    max_versions: int = setting(
        0,
        "how many versions of each named diagram are kept; 0 is all. The oldest go when a new text is put, the latest "
        "good one never; `/a/{name}@{n}.svg` of one that went is a 410 (`version_gone`)",
        ValueCheck(lambda value: value >= 0, "{} is not at least 1, or 0 for all"),
    )
    job_retention: float = setting(
        3600.0,
        "how long jobs are kept after they ended",
        positive(unit="s"),
        aliases=(milliseconds("JOB_RETENTION_MS"),),
    )
    max_concurrent: int = setting(
        10,
        "diagrams that one process renders at once",
        at_least(1),
        aliases=(Alias("QUEUE_MAX_CONCURRENT"),),
    )
    max_waiting: int = setting(
        50,
        "diagrams that wait for one of these places; one more is refused, unless its organisation has less than its "
        "share of them",
        at_least(0),
        aliases=(Alias("QUEUE_MAX_WAITING"),),
    )
