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
    sha256       TEXT PRIMARY KEY CHECK (sha256 ~ '^[0-9a-f]{64}$'),
    generation   BIGINT NOT NULL CHECK (generation >= 0),
    size         BIGINT NOT NULL CHECK (size >= 0),
    state        TEXT    NOT NULL CHECK (state IN ('live', 'marked', 'deleting', 'deleted')),
    state_since  BIGINT NOT NULL,
    date_created BIGINT NOT NULL
);
-- One index for each state that is collected from, and none for the many that are live.
CREATE INDEX blob_marked ON blob (state_since) WHERE state = 'marked';
CREATE INDEX blob_deleting ON blob (state_since) WHERE state = 'deleting';
CREATE INDEX blob_deleted ON blob (state_since) WHERE state = 'deleted';

-- Above every generation whose row was forgotten. Where a row is gone, the next generation begins here.
CREATE TABLE blob_epoch (
    "only"  BIGINT PRIMARY KEY CHECK ("only" = 1),
    value BIGINT NOT NULL
);
INSERT INTO blob_epoch VALUES (1, 0);

CREATE TABLE artifact (
    uid          TEXT PRIMARY KEY CHECK (length(uid) = 26),
    name         TEXT    NOT NULL CHECK (name <> ''), -- which of its job's artifacts it is
    sha256       TEXT    REFERENCES blob, -- NULL: many files, in artifact_file
    files        BIGINT NOT NULL DEFAULT 0 CHECK (files >= 0),
    size         BIGINT NOT NULL CHECK (size >= 0),
    media_type   TEXT    NOT NULL,
    filename     TEXT,
    org_id       TEXT    NOT NULL DEFAULT '',
    job_uid      TEXT    REFERENCES job (uid) ON DELETE SET NULL, -- as long as the job is there, so is this
    date_created BIGINT NOT NULL,
    expires_at   BIGINT , -- its short link and its cache entry expire with it; NULL: with its job and its holds
    CHECK ((sha256 IS NULL) = (files > 0))
);
CREATE UNIQUE INDEX artifact_of_job ON artifact (job_uid, name) WHERE job_uid IS NOT NULL;
CREATE INDEX artifact_blob ON artifact (sha256) WHERE sha256 IS NOT NULL;
CREATE INDEX artifact_without_job ON artifact (coalesce(expires_at, 0)) WHERE job_uid IS NULL;

CREATE TABLE artifact_file (
    artifact   TEXT    NOT NULL REFERENCES artifact ON DELETE CASCADE,
    path       TEXT    NOT NULL CHECK (path <> '' AND path NOT LIKE '/%'),
    sha256     TEXT    NOT NULL REFERENCES blob,
    size       BIGINT NOT NULL CHECK (size >= 0),
    media_type TEXT    NOT NULL,
    PRIMARY KEY (artifact, path)
);
CREATE INDEX artifact_file_blob ON artifact_file (sha256);

-- No expiry of its own: the artifact's is the only one.
CREATE TABLE short_link (
    link         TEXT PRIMARY KEY CHECK (length(link) = 13),
    artifact     TEXT    NOT NULL REFERENCES artifact ON DELETE CASCADE,
    org_id       TEXT    NOT NULL DEFAULT '',
    date_created BIGINT NOT NULL
);
CREATE INDEX short_link_artifact ON short_link (artifact);

-- A named thing (an edition, a wiki page, a pack's offer) that needs an artifact for as long as it stands.
CREATE TABLE artifact_hold (
    holder       TEXT    NOT NULL CHECK (holder <> ''),
    artifact     TEXT    NOT NULL REFERENCES artifact,
    date_created BIGINT NOT NULL,
    PRIMARY KEY (holder, artifact)
);
CREATE INDEX artifact_hold_artifact ON artifact_hold (artifact);

CREATE INDEX render_cache_artifact ON render_cache (artifact) WHERE artifact IS NOT NULL;

-- The moves of blobs.MOVES, and the one law behind them: what is referred to is live. Whatever writes here, a tool or a later
-- mistake of ours, a row never refers to bytes that may be deleted.
CREATE TRIGGER blob_moves BEFORE UPDATE OF state, generation ON blob FOR EACH ROW
    WHEN (NEW.generation < OLD.generation
          OR (OLD.state IN ('live', 'marked') AND NEW.generation <> OLD.generation)
          OR (OLD.state = 'live' AND NEW.state IN ('deleting', 'deleted'))
          OR (OLD.state = 'marked' AND NEW.state = 'deleted')
          OR (OLD.state IN ('deleting', 'deleted') AND NEW.state = 'live')
          OR (OLD.state IN ('deleting', 'deleted') AND NEW.state = 'marked' AND NEW.generation = OLD.generation))
    EXECUTE FUNCTION refuse_move('this blob may not go there from where it is');

CREATE TRIGGER blob_is_born_unreferred BEFORE INSERT ON blob FOR EACH ROW WHEN (NEW.state NOT IN ('marked', 'deleting'))
    EXECUTE FUNCTION refuse_move('a blob is born marked, or condemned if it is an orphan');

CREATE TRIGGER blob_forget_only_deleted BEFORE DELETE ON blob FOR EACH ROW WHEN (OLD.state <> 'deleted')
    EXECUTE FUNCTION refuse_move('only a deleted blob may be forgotten');

CREATE FUNCTION blob_is_free() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM artifact WHERE sha256 = OLD.sha256)
       OR EXISTS (SELECT 1 FROM artifact_file WHERE sha256 = OLD.sha256) THEN
        RAISE EXCEPTION 'illegal move: an artifact refers to this blob' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER blob_in_use BEFORE UPDATE OF state ON blob FOR EACH ROW WHEN (NEW.state <> 'live')
    EXECUTE FUNCTION blob_is_free();

CREATE FUNCTION blob_is_live() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM blob WHERE sha256 = NEW.sha256 AND state = 'live') THEN
        RAISE EXCEPTION 'illegal move: an artifact needs live blobs' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER artifact_needs_its_bytes BEFORE INSERT ON artifact FOR EACH ROW WHEN (NEW.sha256 IS NOT NULL)
    EXECUTE FUNCTION blob_is_live();

CREATE TRIGGER artifact_keeps_its_bytes BEFORE UPDATE OF sha256 ON artifact FOR EACH ROW
    EXECUTE FUNCTION refuse_move('an artifact never changes');

CREATE TRIGGER artifact_file_needs_its_bytes BEFORE INSERT ON artifact_file FOR EACH ROW
    EXECUTE FUNCTION blob_is_live();

CREATE TRIGGER artifact_file_keeps_its_bytes BEFORE UPDATE ON artifact_file FOR EACH ROW
    EXECUTE FUNCTION refuse_move('an artifact never changes');
