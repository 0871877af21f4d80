-- Second names of bytes in the artifact store, for programs that look for them there. A row is made before its name is, and is
-- deleted after it: the store has no name that no row knows.
CREATE TABLE blob_alias (
    path           TEXT    PRIMARY KEY CHECK (path <> ''),
    artifact       TEXT    REFERENCES artifact ON DELETE SET NULL, -- NULL before its job has ended, and after it was collected
    sha256         TEXT    NOT NULL,
    generation     INTEGER NOT NULL,
    size           INTEGER NOT NULL,
    date_reserved  INTEGER NOT NULL,
    date_condemned INTEGER, -- from then on it may be deleted from the store at any moment

    CHECK (artifact IS NULL OR date_condemned IS NULL)
) STRICT, WITHOUT ROWID;
CREATE INDEX blob_alias_artifact ON blob_alias (artifact) WHERE artifact IS NOT NULL;
CREATE INDEX blob_alias_unattached ON blob_alias (date_reserved) WHERE artifact IS NULL;
