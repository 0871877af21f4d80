-- The jobs table and what stands beside it.
--
-- Times are milliseconds since 1970, UTC. A row says everything about a job but its payload, which lives apart: SQLite
-- rewrites a whole row on every update, and a claim or heartbeat should not rewrite a megabyte of Markdown.

-- One counter numbers jobs and their places in the line. It only grows, so a number is never given twice, even after
-- the job that had it was deleted: a late worker cannot mistake a new job for its own.
CREATE TABLE sequence (
    only  INTEGER PRIMARY KEY CHECK (only = 1),
    value INTEGER NOT NULL
) STRICT;
INSERT INTO sequence VALUES (1, 0);

CREATE TABLE job (
    id               INTEGER PRIMARY KEY,
    uid              TEXT    NOT NULL CHECK (length(uid) = 26),
    kind             TEXT    NOT NULL,
    tier             INTEGER NOT NULL CHECK (tier IN (0, 1)),
    seq              INTEGER NOT NULL,
    run_at           INTEGER NOT NULL,
    status           TEXT    NOT NULL CHECK (status IN
                     ('queued', 'in_progress', 'completed', 'completed_with_errors', 'failed', 'cancelled')),
    -- Why a queued job is not ready: its time has not come, its key is busy, or it was cancelled by a process that does
    -- not know how to end its kind. NULL is ready.
    waits_for        TEXT    CHECK (waits_for IN ('time', 'key', 'cancel')),
    phase            TEXT,
    progress         TEXT    CHECK (progress IS NULL OR json_valid(progress)),
    errors           TEXT    CHECK (errors IS NULL OR json_valid(errors)),
    last_error       TEXT,
    failures         INTEGER NOT NULL DEFAULT 0 CHECK (failures >= 0),
    max_attempts     INTEGER NOT NULL CHECK (max_attempts >= 1),
    crashes          INTEGER NOT NULL DEFAULT 0 CHECK (crashes >= 0),
    max_crashes      INTEGER NOT NULL CHECK (max_crashes >= 1),
    claim            INTEGER NOT NULL DEFAULT 0,
    worker           TEXT,
    lease            INTEGER, -- how long the claim was granted for, and is prolonged by
    lease_until      INTEGER,
    key              TEXT,
    on_key           TEXT    NOT NULL CHECK (on_key IN ('coalesce', 'line_up', 'skip')),
    fingerprint      TEXT,
    org_id           TEXT    NOT NULL DEFAULT '',
    project_id       TEXT,
    build_id         TEXT,
    subject          TEXT,
    result           TEXT    CHECK (result IS NULL OR json_valid(result)),
    parent           TEXT,
    retry_of         TEXT,
    superseded_by    TEXT,
    version          INTEGER NOT NULL DEFAULT 1,
    cancel_requested INTEGER NOT NULL DEFAULT 0 CHECK (cancel_requested IN (0, 1)),
    delivery_ref     TEXT,
    trace            TEXT,
    retention        INTEGER NOT NULL,
    prune_after      INTEGER,
    date_created     INTEGER NOT NULL,
    date_started     INTEGER,
    date_completed   INTEGER,

    CHECK (waits_for IS NULL OR status = 'queued'),
    CHECK (waits_for IS NOT 'key' OR key IS NOT NULL),
    CHECK ((status = 'in_progress') = (lease_until IS NOT NULL)),
    CHECK (status <> 'in_progress' OR (worker IS NOT NULL AND lease IS NOT NULL AND date_started IS NOT NULL)),
    CHECK ((status IN ('queued', 'in_progress')) = (date_completed IS NULL)),
    CHECK ((date_completed IS NULL) = (prune_after IS NULL)),
    CHECK (status NOT IN ('completed', 'completed_with_errors') OR result IS NOT NULL)
) STRICT;

CREATE UNIQUE INDEX job_uid ON job (uid);

-- What is ready, not what is queued: a million jobs dated for tomorrow, or ten thousand behind one busy key, do not
-- stand between a worker and the next job.
CREATE INDEX job_ready ON job (kind, tier, seq) WHERE status = 'queued' AND waits_for IS NULL;
CREATE INDEX job_due ON job (run_at) WHERE status = 'queued' AND waits_for = 'time';
CREATE INDEX job_line ON job (org_id, key, tier, seq) WHERE status = 'queued' AND key IS NOT NULL;

-- One key, one holder: the job of that key that is in progress, or else the one that may start next.
CREATE UNIQUE INDEX job_holder ON job (org_id, key)
    WHERE key IS NOT NULL AND (status = 'in_progress' OR (status = 'queued' AND waits_for IS NULL));

CREATE INDEX job_fingerprint ON job (fingerprint)
    WHERE fingerprint IS NOT NULL AND status IN ('queued', 'in_progress');
CREATE INDEX job_running ON job (id) WHERE status = 'in_progress';
CREATE INDEX job_cancelling ON job (cancel_requested, status) WHERE cancel_requested = 1 AND status IN ('queued', 'in_progress');
CREATE INDEX job_open ON job (id) WHERE status IN ('queued', 'in_progress');
CREATE INDEX job_trouble ON job (status, id) WHERE status IN ('failed', 'completed_with_errors', 'cancelled');
CREATE INDEX job_prune ON job (prune_after) WHERE prune_after IS NOT NULL;
CREATE INDEX job_ended ON job (date_completed) WHERE date_completed IS NOT NULL;
CREATE INDEX job_key ON job (key, id) WHERE key IS NOT NULL;
CREATE INDEX job_parent ON job (parent, id) WHERE parent IS NOT NULL;
CREATE INDEX job_org ON job (org_id, id) WHERE org_id <> '';

-- The moves of model.MOVES. Whatever writes here, a tool or a later mistake of ours, an ended job stays ended.
CREATE TRIGGER job_is_born_queued BEFORE INSERT ON job WHEN NEW.status <> 'queued'
BEGIN
    SELECT RAISE(ABORT, 'illegal move: a job is born queued');
END;

CREATE TRIGGER job_moves BEFORE UPDATE ON job
WHEN OLD.status NOT IN ('queued', 'in_progress')
  OR (OLD.status = 'queued' AND NEW.status IN ('completed', 'completed_with_errors'))
BEGIN
    SELECT RAISE(ABORT, 'illegal move: this job may not go there from where it is');
END;

CREATE TRIGGER job_claim_only_grows BEFORE UPDATE OF claim ON job WHEN NEW.claim < OLD.claim
BEGIN
    SELECT RAISE(ABORT, 'illegal move: a claim token only grows');
END;

CREATE TRIGGER job_delete_only_ended BEFORE DELETE ON job WHEN OLD.status IN ('queued', 'in_progress')
BEGIN
    SELECT RAISE(ABORT, 'illegal move: only an ended job may be deleted');
END;

CREATE TABLE job_payload (
    job_id INTEGER PRIMARY KEY REFERENCES job ON DELETE CASCADE,
    body   TEXT NOT NULL
) STRICT;

CREATE TABLE job_event (
    id     INTEGER PRIMARY KEY AUTOINCREMENT,
    job_id INTEGER NOT NULL REFERENCES job ON DELETE CASCADE,
    at     INTEGER NOT NULL,
    type   TEXT NOT NULL,
    data   TEXT NOT NULL DEFAULT '{}'
) STRICT;
CREATE INDEX job_event_by_job ON job_event (job_id, id);

-- A job ends once. A second ending would be a second answer to somebody who waits.
CREATE UNIQUE INDEX job_event_ending ON job_event (job_id)
    WHERE type IN ('completed', 'completed_with_errors', 'failed', 'cancelled');

CREATE TRIGGER job_event_is_append_only BEFORE UPDATE ON job_event
BEGIN
    SELECT RAISE(ABORT, 'illegal move: history is append-only');
END;

-- Named parts of a job's work, moved one by one. The claim keeps the attempts apart.
CREATE TABLE job_item (
    job_id   INTEGER NOT NULL REFERENCES job ON DELETE CASCADE,
    claim    INTEGER NOT NULL,
    noun     TEXT    NOT NULL,
    name     TEXT    NOT NULL,
    position INTEGER NOT NULL,
    state    TEXT    NOT NULL CHECK (state IN ('in_progress', 'completed', 'failed')),
    error    TEXT,
    PRIMARY KEY (job_id, claim, noun, name)
) STRICT, WITHOUT ROWID;

-- A job as people are shown it: the row, with the items of its current attempt.
CREATE VIEW job_shown AS
SELECT id, uid, kind, tier, seq, run_at, status, waits_for, phase, progress, errors, last_error, failures, max_attempts,
       crashes, claim, worker, lease_until, key, fingerprint, org_id, project_id, build_id, subject, result, parent, retry_of,
       superseded_by, version, cancel_requested, delivery_ref, trace, date_created, date_started, date_completed,
       (SELECT json_group_array(json_array(noun, name, state, error) ORDER BY position)
          FROM job_item
         WHERE job_item.job_id = job.id AND job_item.claim = job.claim) AS items
  FROM job;

-- One row and one expiry for input and output, so that they expire together.
CREATE TABLE render_cache (
    fingerprint  TEXT PRIMARY KEY,
    org_id       TEXT    NOT NULL,
    kind         TEXT    NOT NULL,
    fields       TEXT    NOT NULL,
    job_id       INTEGER NOT NULL REFERENCES job,
    short_link   TEXT,
    artifact     TEXT,
    hits         INTEGER NOT NULL DEFAULT 0,
    date_created INTEGER NOT NULL,
    expires_at   INTEGER NOT NULL
) STRICT;
CREATE INDEX render_cache_expiry ON render_cache (expires_at);
CREATE INDEX render_cache_nearest ON render_cache (org_id, kind, date_created);
CREATE INDEX render_cache_job ON render_cache (job_id);

-- The fields of a fingerprint while its job is open; they move to render_cache when it completes.
CREATE TABLE job_input (
    job_id    INTEGER PRIMARY KEY REFERENCES job ON DELETE CASCADE,
    fields    TEXT    NOT NULL,
    cache_for INTEGER NOT NULL
) STRICT;

-- What every process must know of a kind: whether it is paused, and whether ending its jobs needs its own code.
CREATE TABLE kind (
    name     TEXT PRIMARY KEY,
    settling INTEGER NOT NULL DEFAULT 0,
    paused   INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE worker (
    uid        TEXT PRIMARY KEY,
    process    TEXT    NOT NULL,
    kinds      TEXT    NOT NULL,
    slots      INTEGER NOT NULL,
    running    INTEGER NOT NULL DEFAULT 0,
    date_started INTEGER NOT NULL,
    seen_at    INTEGER NOT NULL
) STRICT;

CREATE TABLE schedule (
    name      TEXT PRIMARY KEY,
    cron      TEXT    NOT NULL,
    kind      TEXT    NOT NULL,
    payload   TEXT    NOT NULL,
    missed    TEXT    NOT NULL CHECK (missed IN ('one', 'skip', 'all')),
    key       TEXT,
    last_tick INTEGER NOT NULL
) STRICT;

-- A tick fires once: whoever inserts it submits its job in the same transaction.
CREATE TABLE schedule_tick (
    schedule TEXT    NOT NULL REFERENCES schedule ON DELETE CASCADE,
    tick     INTEGER NOT NULL,
    job      TEXT    NOT NULL,
    PRIMARY KEY (schedule, tick)
) STRICT, WITHOUT ROWID;
