-- One PDF from the documents of a pack: the newest that is ready, and what was requested after it.
CREATE TABLE packs_bundle (
    pack         TEXT    NOT NULL REFERENCES packs_pack ON DELETE CASCADE,
    number       BIGINT NOT NULL CHECK (number >= 1),
    job_uid      TEXT    NOT NULL,
    job_id       TEXT    NOT NULL,                      -- the same id as a UUID
    bundle_order TEXT    NOT NULL,
    requested_by TEXT    NOT NULL,
    outcome      TEXT    CHECK (outcome IN ('ready', 'failed', 'cancelled')),
    error        TEXT,
    artifact     TEXT,
    file_id      TEXT    UNIQUE,                        -- the same id as a UUID
    pages        BIGINT,
    size         BIGINT,
    sha256       TEXT,
    versions     TEXT, -- {"offer": 3}: what is in it
    date_created BIGINT NOT NULL,
    date_settled BIGINT,
    PRIMARY KEY (pack, number),
    CHECK ((outcome IS NULL) = (date_settled IS NULL)),
    CHECK ((outcome IS NOT DISTINCT FROM 'ready') = (artifact IS NOT NULL))
);
