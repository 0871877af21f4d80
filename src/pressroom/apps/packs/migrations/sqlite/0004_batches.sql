-- Many packs from one upload, a pack for each line.
CREATE TABLE packs_batch (
    id           TEXT    PRIMARY KEY CHECK (length(id) = 36),
    org_id       TEXT    NOT NULL DEFAULT '',
    job_uid      TEXT    NOT NULL,                -- the newest job that works on it
    format       TEXT    NOT NULL CHECK (format IN ('ndjson', 'csv')),
    upload       TEXT    NOT NULL,                -- the artifact with the lines
    sha256       TEXT    NOT NULL CHECK (length(sha256) = 64),
    size         INTEGER NOT NULL,
    user_id      TEXT    NOT NULL DEFAULT '',     -- whose packs they all are, if the upload does not say so line by line
    author       TEXT    NOT NULL,
    lines        INTEGER,                         -- NULL until they were counted
    date_created INTEGER NOT NULL,
    date_read    INTEGER                          -- when the last line was taken in
) STRICT;
CREATE INDEX packs_batch_org ON packs_batch (org_id, id);
CREATE INDEX packs_batch_job ON packs_batch (job_uid);
CREATE INDEX packs_batch_created ON packs_batch (date_created);

CREATE TABLE packs_batch_line (
    batch          TEXT    NOT NULL REFERENCES packs_batch ON DELETE CASCADE,
    number         INTEGER NOT NULL CHECK (number >= 1),
    pack           TEXT,                          -- NULL for a line that is no pack; the pack may be gone since
    error          TEXT CHECK (error IS NULL OR json_valid(error)),
    skipped        TEXT    NOT NULL DEFAULT '[]' CHECK (json_valid(skipped)), -- documents that could not be requested
    date_requested INTEGER,
    PRIMARY KEY (batch, number),
    CHECK (pack IS NOT NULL OR error IS NOT NULL)
) STRICT, WITHOUT ROWID;

-- What became of each line, by the newest render of each of its documents.
CREATE VIEW packs_batch_state AS
SELECT packs_batch_line.batch, packs_batch_line.number, packs_batch_line.pack, packs_batch_line.error, packs_batch_line.skipped,
       CASE WHEN packs_batch_line.error IS NOT NULL THEN 'failed'
            WHEN packs_batch_line.date_requested IS NULL THEN 'waiting'
            WHEN EXISTS (
                 SELECT 1
                   FROM packs_document
                   JOIN packs_render ON packs_render.pack = packs_document.pack AND packs_render.doc_id = packs_document.doc_id
                                    AND packs_render.number = packs_document.latest
                  WHERE packs_document.pack = packs_batch_line.pack AND packs_render.outcome IS NULL) THEN 'rendering'
            WHEN packs_batch_line.skipped <> '[]' THEN 'failed'
            WHEN EXISTS (
                 SELECT 1
                   FROM packs_document
                   JOIN packs_render ON packs_render.pack = packs_document.pack AND packs_render.doc_id = packs_document.doc_id
                                    AND packs_render.number = packs_document.latest
                  WHERE packs_document.pack = packs_batch_line.pack AND packs_render.outcome <> 'ready') THEN 'failed'
            ELSE 'ready' END AS status
  FROM packs_batch_line;
