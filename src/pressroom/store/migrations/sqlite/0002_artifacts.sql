-- What was rendered: artifacts, the blobs that hold their bytes, and the names by which they are found.

-- The bytes themselves lie in the artifact store, under sha256 and generation. A row here says whether they may be relied on:
--
--   live      an artifact refers to it; it always has its bytes
--   marked    nothing refers to it: a put is under way, or the last artifact is gone. May become live again.
--   deleting  condemned; its bytes may go at any moment, and never come back under this generation
--   deleted   the bytes are gone
--
-- The same bytes put again after that get the next generation, so a deletion that comes late, however late, names something
-- that nobody will ever refer to again.
CREATE TABLE blob (
    sha256       TEXT PRIMARY KEY CHECK (length(sha256) = 64 AND sha256 NOT GLOB '*[^0-9a-f]*'),
    generation   INTEGER NOT NULL CHECK (generation >= 0),
    size         INTEGER NOT NULL CHECK (size >= 0),
    state        TEXT    NOT NULL CHECK (state IN ('live', 'marked', 'deleting', 'deleted')),
    state_since  INTEGER NOT NULL,
    date_created INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
-- One index for each state that is collected from, and none for the many that are live.
CREATE INDEX blob_marked ON blob (state_since) WHERE state = 'marked';
CREATE INDEX blob_deleting ON blob (state_since) WHERE state = 'deleting';
CREATE INDEX blob_deleted ON blob (state_since) WHERE state = 'deleted';

-- Above every generation whose row was forgotten. Where a row is gone, the next generation begins here.
CREATE TABLE blob_epoch (
    only  INTEGER PRIMARY KEY CHECK (only = 1),
    value INTEGER NOT NULL
) STRICT;
INSERT INTO blob_epoch VALUES (1, 0);

CREATE TABLE artifact (
    uid          TEXT PRIMARY KEY CHECK (length(uid) = 26),
    name         TEXT    NOT NULL CHECK (name <> ''), -- which of its job's artifacts it is
    sha256       TEXT    REFERENCES blob, -- NULL: many files, in artifact_file
    files        INTEGER NOT NULL DEFAULT 0 CHECK (files >= 0),
    size         INTEGER NOT NULL CHECK (size >= 0),
    media_type   TEXT    NOT NULL,
    filename     TEXT,
    org_id       TEXT    NOT NULL DEFAULT '',
    job_uid      TEXT    REFERENCES job (uid) ON DELETE SET NULL, -- as long as the job is there, so is this
    date_created INTEGER NOT NULL,
    expires_at   INTEGER, -- its short link and its cache entry expire with it; NULL: with its job and its holds
    CHECK ((sha256 IS NULL) = (files > 0))
) STRICT;
CREATE UNIQUE INDEX artifact_of_job ON artifact (job_uid, name) WHERE job_uid IS NOT NULL;
CREATE INDEX artifact_blob ON artifact (sha256) WHERE sha256 IS NOT NULL;
CREATE INDEX artifact_without_job ON artifact (coalesce(expires_at, 0)) WHERE job_uid IS NULL;

CREATE TABLE artifact_file (
    artifact   TEXT    NOT NULL REFERENCES artifact ON DELETE CASCADE,
    path       TEXT    NOT NULL CHECK (path <> '' AND path NOT LIKE '/%'),
    sha256     TEXT    NOT NULL REFERENCES blob,
    size       INTEGER NOT NULL CHECK (size >= 0),
    media_type TEXT    NOT NULL,
    PRIMARY KEY (artifact, path)
) STRICT, WITHOUT ROWID;
CREATE INDEX artifact_file_blob ON artifact_file (sha256);

-- No expiry of its own: the artifact's is the only one.
CREATE TABLE short_link (
    link         TEXT PRIMARY KEY CHECK (length(link) = 13),
    artifact     TEXT    NOT NULL REFERENCES artifact ON DELETE CASCADE,
    org_id       TEXT    NOT NULL DEFAULT '',
    date_created INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX short_link_artifact ON short_link (artifact);

-- A named thing (an edition, a wiki page, a pack's offer) that needs an artifact for as long as it stands.
CREATE TABLE artifact_hold (
    holder       TEXT    NOT NULL CHECK (holder <> ''),
    artifact     TEXT    NOT NULL REFERENCES artifact,
    date_created INTEGER NOT NULL,
    PRIMARY KEY (holder, artifact)
) STRICT, WITHOUT ROWID;
CREATE INDEX artifact_hold_artifact ON artifact_hold (artifact);

CREATE INDEX render_cache_artifact ON render_cache (artifact) WHERE artifact IS NOT NULL;

-- The moves of blobs.MOVES, and the one law behind them: what is referred to is live. Whatever writes here, a tool or a later
-- mistake of ours, a row never refers to bytes that may be deleted.
CREATE TRIGGER blob_moves BEFORE UPDATE OF state, generation ON blob
WHEN NEW.generation < OLD.generation
  OR (OLD.state IN ('live', 'marked') AND NEW.generation <> OLD.generation)
  OR (OLD.state = 'live' AND NEW.state IN ('deleting', 'deleted'))
  OR (OLD.state = 'marked' AND NEW.state = 'deleted')
  OR (OLD.state IN ('deleting', 'deleted') AND NEW.state = 'live')
  OR (OLD.state IN ('deleting', 'deleted') AND NEW.state = 'marked' AND NEW.generation = OLD.generation)
BEGIN
    SELECT RAISE(ABORT, 'illegal move: this blob may not go there from where it is');
END;

CREATE TRIGGER blob_is_born_unreferred BEFORE INSERT ON blob WHEN NEW.state NOT IN ('marked', 'deleting')
BEGIN
    SELECT RAISE(ABORT, 'illegal move: a blob is born marked, or condemned if it is an orphan');
END;

CREATE TRIGGER blob_in_use BEFORE UPDATE OF state ON blob
WHEN NEW.state <> 'live'
 AND (EXISTS (SELECT 1 FROM artifact WHERE sha256 = OLD.sha256) OR EXISTS (SELECT 1 FROM artifact_file WHERE sha256 = OLD.sha256))
BEGIN
    SELECT RAISE(ABORT, 'illegal move: an artifact refers to this blob');
END;

CREATE TRIGGER blob_forget_only_deleted BEFORE DELETE ON blob WHEN OLD.state <> 'deleted'
BEGIN
    SELECT RAISE(ABORT, 'illegal move: only a deleted blob may be forgotten');
END;

CREATE TRIGGER artifact_needs_its_bytes BEFORE INSERT ON artifact
WHEN NEW.sha256 IS NOT NULL AND NOT EXISTS (SELECT 1 FROM blob WHERE sha256 = NEW.sha256 AND state = 'live')
BEGIN
    SELECT RAISE(ABORT, 'illegal move: an artifact needs a live blob');
END;

CREATE TRIGGER artifact_keeps_its_bytes BEFORE UPDATE OF sha256 ON artifact
BEGIN
    SELECT RAISE(ABORT, 'illegal move: an artifact never changes');
END;

CREATE TRIGGER artifact_file_needs_its_bytes BEFORE INSERT ON artifact_file
WHEN NOT EXISTS (SELECT 1 FROM blob WHERE sha256 = NEW.sha256 AND state = 'live')
BEGIN
    SELECT RAISE(ABORT, 'illegal move: an artifact needs live blobs');
END;

CREATE TRIGGER artifact_file_keeps_its_bytes BEFORE UPDATE ON artifact_file
BEGIN
    SELECT RAISE(ABORT, 'illegal move: an artifact never changes');
END;
