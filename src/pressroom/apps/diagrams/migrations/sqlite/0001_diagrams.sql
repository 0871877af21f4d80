-- Named diagrams: each keeps its versions, and each version the pictures that were made of it.

CREATE TABLE diagram (
    id           INTEGER PRIMARY KEY AUTOINCREMENT, -- never given twice: it is part of the name that holds artifacts
    org_id       TEXT    NOT NULL DEFAULT '',
    name         TEXT    NOT NULL CHECK (name <> ''),
    link         TEXT    NOT NULL CHECK (length(link) = 13), -- lets in whoever shows the picture and has no token
    date_created INTEGER NOT NULL,
    UNIQUE (org_id, name)
) STRICT;
CREATE UNIQUE INDEX diagram_link ON diagram (link);

CREATE TABLE diagram_version (
    diagram      INTEGER NOT NULL REFERENCES diagram ON DELETE CASCADE,
    number       INTEGER NOT NULL CHECK (number >= 1),
    source       TEXT    NOT NULL,
    format       TEXT    NOT NULL,
    options      TEXT    NOT NULL CHECK (json_valid(options)),
    engine       TEXT,
    -- superseded: a newer version came before it was rendered; it still can be, for whoever asks for it by its number
    status       TEXT    NOT NULL CHECK (status IN ('pending', 'completed', 'failed', 'superseded')),
    error        TEXT    CHECK (error IS NULL OR json_valid(error)),
    job_uid      TEXT,
    date_created INTEGER NOT NULL,
    date_settled INTEGER,
    PRIMARY KEY (diagram, number),
    CHECK ((status = 'pending') = (date_settled IS NULL)),
    CHECK ((status = 'failed') = (error IS NOT NULL))
) STRICT, WITHOUT ROWID;
CREATE INDEX diagram_version_good ON diagram_version (diagram, number) WHERE status = 'completed';

CREATE TABLE diagram_picture (
    diagram      INTEGER NOT NULL,
    number       INTEGER NOT NULL,
    output       TEXT    NOT NULL,
    theme        TEXT    NOT NULL, -- '' where the engine has none
    artifact     TEXT    NOT NULL REFERENCES artifact,
    date_created INTEGER NOT NULL,
    PRIMARY KEY (diagram, output, theme, number),
    FOREIGN KEY (diagram, number) REFERENCES diagram_version ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX diagram_picture_artifact ON diagram_picture (artifact);
CREATE INDEX diagram_picture_version ON diagram_picture (diagram, number);

-- A picture is shown under a number for ever.
CREATE TRIGGER diagram_picture_stays BEFORE UPDATE ON diagram_picture
BEGIN
    SELECT RAISE(ABORT, 'illegal move: the picture of a version never changes');
END;
