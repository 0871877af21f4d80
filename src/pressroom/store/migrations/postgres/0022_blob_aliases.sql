-- Second names of bytes in the artifact store, for programs that look for them there. A row is made before its name is, and is
-- deleted after it: the store has no name that no row knows.
CREATE TABLE blob_alias (
    path           TEXT    PRIMARY KEY CHECK (path <> ''),
    artifact       TEXT    REFERENCES artifact ON DELETE SET NULL, -- NULL before its job has ended, and after it was collected
    sha256         TEXT    NOT NULL,
    generation     BIGINT  NOT NULL,
    size           BIGINT  NOT NULL,
    date_reserved  BIGINT  NOT NULL,
    date_condemned BIGINT, -- from then on it may be deleted from the store at any moment

    CHECK (artifact IS NULL OR date_condemned IS NULL)
);
CREATE INDEX blob_alias_artifact ON blob_alias (artifact) WHERE artifact IS NOT NULL;
CREATE INDEX blob_alias_unattached ON blob_alias (date_reserved) WHERE artifact IS NULL;
