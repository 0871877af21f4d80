-- Packs: documents made from one body of data. Times are milliseconds; packs and files are named by UUIDs in text.

-- One row for each key, locked while a version of it is numbered or published.
CREATE TABLE packs_config_key (
    org_id TEXT NOT NULL,
    key    TEXT NOT NULL CHECK (key <> ''),
    PRIMARY KEY (org_id, key)
) STRICT, WITHOUT ROWID;

-- Versions of what packs are made with: documents_registry, template:offer, style:base, strings:de, resources. A version never changes.
CREATE TABLE packs_config (
    org_id         TEXT    NOT NULL,
    key            TEXT    NOT NULL CHECK (key <> ''),
    number         INTEGER NOT NULL CHECK (number >= 1),
    status         TEXT    NOT NULL CHECK (status IN ('draft', 'valid', 'invalid', 'published', 'retired')),
    sha256         TEXT    NOT NULL CHECK (length(sha256) = 64),
    problems       TEXT    NOT NULL DEFAULT '[]' CHECK (json_valid(problems)),
    comment        TEXT    NOT NULL,
    author         TEXT    NOT NULL,
    date_created   INTEGER NOT NULL,
    date_published INTEGER,
    PRIMARY KEY (org_id, key, number)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX packs_config_published ON packs_config (org_id, key) WHERE status = 'published';

-- Apart, so that a new status does not write a long text again.
CREATE TABLE packs_config_body (
    org_id TEXT    NOT NULL,
    key    TEXT    NOT NULL,
    number INTEGER NOT NULL,
    body   TEXT    NOT NULL,
    PRIMARY KEY (org_id, key, number),
    FOREIGN KEY (org_id, key, number) REFERENCES packs_config ON DELETE CASCADE
) STRICT;

CREATE TRIGGER packs_config_stays BEFORE UPDATE OF org_id, key, number, sha256, author, date_created ON packs_config
BEGIN
    SELECT RAISE(ABORT, 'illegal move: a version of the configuration never changes');
END;
CREATE TRIGGER packs_config_body_stays BEFORE UPDATE ON packs_config_body
BEGIN
    SELECT RAISE(ABORT, 'illegal move: a version of the configuration never changes');
END;

CREATE TABLE packs_pack (
    id              TEXT    PRIMARY KEY CHECK (length(id) = 36),
    org_id          TEXT    NOT NULL DEFAULT '',
    session_id      TEXT    NOT NULL,
    user_id         TEXT    NOT NULL DEFAULT '',
    title           TEXT    NOT NULL,
    lang            TEXT    NOT NULL DEFAULT '',
    link_digest     TEXT    UNIQUE,                    -- of the capability link; NULL where there is none
    link_expires_at INTEGER,
    data_version    INTEGER NOT NULL CHECK (data_version >= 1),
    date_created    INTEGER NOT NULL,
    date_changed    INTEGER NOT NULL,
    date_deleted    INTEGER
) STRICT;
CREATE INDEX packs_pack_org ON packs_pack (org_id, id) WHERE date_deleted IS NULL;
CREATE INDEX packs_pack_user ON packs_pack (org_id, user_id, id) WHERE date_deleted IS NULL AND user_id <> '';
CREATE INDEX packs_pack_deleted ON packs_pack (date_deleted) WHERE date_deleted IS NOT NULL;

CREATE TABLE packs_data (
    pack         TEXT    NOT NULL REFERENCES packs_pack ON DELETE CASCADE,
    number       INTEGER NOT NULL CHECK (number >= 1),
    sha256       TEXT    NOT NULL CHECK (length(sha256) = 64),
    body         TEXT    NOT NULL CHECK (json_valid(body)),
    author       TEXT    NOT NULL,
    date_created INTEGER NOT NULL,
    PRIMARY KEY (pack, number)
) STRICT;
CREATE TRIGGER packs_data_stays BEFORE UPDATE ON packs_data
BEGIN
    SELECT RAISE(ABORT, 'illegal move: a version of the data never changes');
END;

-- What differs from the registry, and for which packs.
CREATE TABLE packs_overlay (
    org_id       TEXT    NOT NULL,
    doc_id       TEXT    NOT NULL,
    scope        TEXT    NOT NULL CHECK (scope IN ('all', 'user', 'session', 'pack')),
    scope_id     TEXT    NOT NULL DEFAULT '',
    enabled      INTEGER CHECK (enabled IN (0, 1)),
    tier         TEXT    CHECK (tier IN ('free', 'paid')),
    unlocked     INTEGER CHECK (unlocked IN (0, 1)),
    title        TEXT,
    description  TEXT,
    reason       TEXT    NOT NULL DEFAULT '',
    author       TEXT    NOT NULL,
    date_created INTEGER NOT NULL,
    PRIMARY KEY (org_id, doc_id, scope, scope_id),
    CHECK ((scope = 'all') = (scope_id = ''))
) STRICT, WITHOUT ROWID;

-- The newest render of a document, and the newest that is ready: a failure never hides a good file (D21).
CREATE TABLE packs_document (
    pack   TEXT    NOT NULL REFERENCES packs_pack ON DELETE CASCADE,
    doc_id TEXT    NOT NULL,
    latest INTEGER NOT NULL CHECK (latest >= 1),
    good   INTEGER CHECK (good <= latest),
    PRIMARY KEY (pack, doc_id)
) STRICT, WITHOUT ROWID;

-- One for each render that was requested. It outlives its job.
CREATE TABLE packs_render (
    pack         TEXT    NOT NULL REFERENCES packs_pack ON DELETE CASCADE,
    doc_id       TEXT    NOT NULL,
    number       INTEGER NOT NULL CHECK (number >= 1),
    job_uid      TEXT    NOT NULL,
    job_id       TEXT    NOT NULL,             -- the same id as a UUID
    session_id   TEXT    NOT NULL,
    data_version INTEGER NOT NULL,
    config       TEXT    NOT NULL CHECK (json_valid(config)), -- {"documents_registry": 7, "template:offer": 3}
    entry_sha256 TEXT    NOT NULL,             -- of what the registry says about how the document is made
    snapshot     TEXT,                         -- the artifact config_snapshot
    requested_by TEXT    NOT NULL,
    outcome      TEXT    CHECK (outcome IN ('ready', 'failed', 'cancelled', 'superseded')),
    attempts     INTEGER NOT NULL DEFAULT 0,   -- failed ones
    max_attempts INTEGER NOT NULL,
    error        TEXT    CHECK (error IS NULL OR json_valid(error)),
    artifact     TEXT,
    file_id      TEXT    UNIQUE,               -- the same id as a UUID
    pages        INTEGER,
    size         INTEGER,
    sha256       TEXT,
    engines      TEXT    CHECK (engines IS NULL OR json_valid(engines)),
    date_created INTEGER NOT NULL,
    date_settled INTEGER,
    PRIMARY KEY (pack, doc_id, number),
    CHECK ((outcome IS NULL) = (date_settled IS NULL)),
    CHECK ((outcome IS 'ready') = (artifact IS NOT NULL))
) STRICT;
CREATE INDEX packs_render_job ON packs_render (job_uid);
CREATE INDEX packs_render_open ON packs_render (pack) WHERE outcome IS NULL;

-- The tables of design 002, for readers of SQL.
CREATE VIEW render_jobs AS
SELECT packs_render.job_id AS id, packs_render.pack AS pack_id, packs_render.session_id, packs_render.doc_id,
       CASE WHEN packs_render.outcome = 'ready' THEN 'ready'
            WHEN packs_render.outcome IS NOT NULL THEN 'failed'
            WHEN job.status = 'in_progress' THEN 'rendering'
            ELSE 'queued' END AS status,
       coalesce(CASE WHEN packs_render.outcome IS NULL THEN job.failures END, packs_render.attempts) AS attempts,
       packs_render.max_attempts,
       coalesce(json_extract(packs_render.error, '$.message'), job.last_error) AS last_error,
       packs_render.date_created AS created_at,
       coalesce(packs_render.date_settled, job.date_started, packs_render.date_created) AS updated_at
  FROM packs_render
  LEFT JOIN job ON job.uid = packs_render.job_uid
 WHERE packs_render.outcome IS NOT 'superseded';

CREATE VIEW artifacts AS
SELECT file_id AS id, 'render' AS kind, pack AS pack_id, json_object('render_job_id', job_id, 'doc_id', doc_id) AS meta,
       date_settled AS created_at
  FROM packs_render
 WHERE outcome = 'ready';

CREATE VIEW artifact_files AS
SELECT packs_render.file_id AS id, packs_render.file_id AS artifact_id,
       'renders/' || packs_render.job_id || '/' || packs_render.doc_id || '.pdf' AS key,
       artifact.media_type AS content_type, artifact.size AS size_bytes, artifact.sha256 AS etag
  FROM packs_render
  JOIN artifact ON artifact.uid = packs_render.artifact
 WHERE packs_render.outcome = 'ready';
