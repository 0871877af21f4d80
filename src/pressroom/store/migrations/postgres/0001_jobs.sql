-- The jobs table and what stands beside it: the tables of SQLite's 0001_jobs.sql, column for column.
--
-- Times are milliseconds since 1970, UTC. JSON is text, as it came: jsonb would refuse what a source may hold (\u0000).
-- A row says everything about a job but its payload, which lives apart: a claim or heartbeat should not rewrite it.

-- One counter numbers jobs and their places in the line. It only grows, so a number is never given twice.
CREATE SEQUENCE job_number;

-- Consecutive numbers for many at once. The lock is given back at once, because a sequence does not wait for a commit.
CREATE FUNCTION reserve_numbers(wanted BIGINT) RETURNS BIGINT LANGUAGE plpgsql AS $$
DECLARE
    last BIGINT;
BEGIN
    IF wanted = 1 THEN
        PERFORM pg_advisory_lock_shared(4721001);
        last := nextval('job_number');
        PERFORM pg_advisory_unlock_shared(4721001);
    ELSE
        PERFORM pg_advisory_lock(4721001);
        last := setval('job_number', nextval('job_number') + wanted - 1);
        PERFORM pg_advisory_unlock(4721001);
    END IF;
    RETURN last;
END $$;

-- What every trigger that forbids something does.
CREATE FUNCTION refuse_move() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'illegal move: %', TG_ARGV[0] USING ERRCODE = 'integrity_constraint_violation';
END $$;

CREATE TABLE job (
    id               BIGINT PRIMARY KEY,
    uid              TEXT    NOT NULL CHECK (length(uid) = 26),
    kind             TEXT    NOT NULL,
    tier             BIGINT NOT NULL CHECK (tier IN (0, 1)),
    seq              BIGINT NOT NULL,
    run_at           BIGINT NOT NULL,
    status           TEXT    NOT NULL CHECK (status IN
                     ('queued', 'in_progress', 'completed', 'completed_with_errors', 'failed', 'cancelled')),
    -- Why a queued job is not ready: its time has not come, its key is busy, or it was cancelled by a process that does
    -- not know how to end its kind. NULL is ready.
    waits_for        TEXT    CHECK (waits_for IN ('time', 'key', 'cancel')),
    phase            TEXT,
    progress         TEXT,
    errors           TEXT,
    last_error       TEXT,
    failures         BIGINT NOT NULL DEFAULT 0 CHECK (failures >= 0),
    max_attempts     BIGINT NOT NULL CHECK (max_attempts >= 1),
    crashes          BIGINT NOT NULL DEFAULT 0 CHECK (crashes >= 0),
    max_crashes      BIGINT NOT NULL CHECK (max_crashes >= 1),
    claim            BIGINT NOT NULL DEFAULT 0,
    worker           TEXT,
    lease            BIGINT , -- how long the claim was granted for, and is prolonged by
    lease_until      BIGINT ,
    key              TEXT,
    on_key           TEXT    NOT NULL CHECK (on_key IN ('coalesce', 'line_up', 'skip')),
    fingerprint      TEXT,
    org_id           TEXT    NOT NULL DEFAULT '',
    project_id       TEXT,
    build_id         TEXT,
    subject          TEXT,
    result           TEXT,
    parent           TEXT,
    retry_of         TEXT,
    superseded_by    TEXT,
    version          BIGINT NOT NULL DEFAULT 1,
    cancel_requested BIGINT NOT NULL DEFAULT 0 CHECK (cancel_requested IN (0, 1)),
    delivery_ref     TEXT,
    trace            TEXT,
    retention        BIGINT NOT NULL,
    prune_after      BIGINT ,
    date_created     BIGINT NOT NULL,
    date_started     BIGINT ,
    date_completed   BIGINT ,

    CHECK (waits_for IS NULL OR status = 'queued'),
    CHECK (waits_for IS DISTINCT FROM 'key' OR key IS NOT NULL),
    CHECK ((status = 'in_progress') = (lease_until IS NOT NULL)),
    CHECK (status <> 'in_progress' OR (worker IS NOT NULL AND lease IS NOT NULL AND date_started IS NOT NULL)),
    CHECK ((status IN ('queued', 'in_progress')) = (date_completed IS NULL)),
    CHECK ((date_completed IS NULL) = (prune_after IS NULL)),
    CHECK (status NOT IN ('completed', 'completed_with_errors') OR result IS NOT NULL)
);

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
CREATE TRIGGER job_is_born_queued BEFORE INSERT ON job FOR EACH ROW WHEN (NEW.status <> 'queued')
    EXECUTE FUNCTION refuse_move('a job is born queued');

CREATE TRIGGER job_moves BEFORE UPDATE ON job FOR EACH ROW
    WHEN (OLD.status NOT IN ('queued', 'in_progress')
          OR (OLD.status = 'queued' AND NEW.status IN ('completed', 'completed_with_errors')))
    EXECUTE FUNCTION refuse_move('this job may not go there from where it is');

CREATE TRIGGER job_claim_only_grows BEFORE UPDATE OF claim ON job FOR EACH ROW WHEN (NEW.claim < OLD.claim)
    EXECUTE FUNCTION refuse_move('a claim token only grows');

CREATE TRIGGER job_delete_only_ended BEFORE DELETE ON job FOR EACH ROW WHEN (OLD.status IN ('queued', 'in_progress'))
    EXECUTE FUNCTION refuse_move('only an ended job may be deleted');

CREATE TABLE job_payload (
    job_id BIGINT PRIMARY KEY REFERENCES job ON DELETE CASCADE,
    body   TEXT NOT NULL
);

CREATE TABLE job_event (
    id     BIGINT  GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    job_id BIGINT NOT NULL REFERENCES job ON DELETE CASCADE,
    at     BIGINT NOT NULL,
    type   TEXT NOT NULL,
    data   TEXT NOT NULL DEFAULT '{}'
);
CREATE INDEX job_event_by_job ON job_event (job_id, id);

-- A job ends once. A second ending would be a second answer to somebody who waits.
CREATE UNIQUE INDEX job_event_ending ON job_event (job_id)
    WHERE type IN ('completed', 'completed_with_errors', 'failed', 'cancelled');

CREATE TRIGGER job_event_is_append_only BEFORE UPDATE ON job_event FOR EACH ROW
    EXECUTE FUNCTION refuse_move('history is append-only');

-- Named parts of a job's work, moved one by one. The claim keeps the attempts apart.
CREATE TABLE job_item (
    job_id   BIGINT NOT NULL REFERENCES job ON DELETE CASCADE,
    claim    BIGINT NOT NULL,
    noun     TEXT    NOT NULL,
    name     TEXT    NOT NULL,
    position BIGINT NOT NULL,
    state    TEXT    NOT NULL CHECK (state IN ('in_progress', 'completed', 'failed')),
    error    TEXT,
    PRIMARY KEY (job_id, claim, noun, name)
);

-- A job as people are shown it: the row, with the items of its current attempt.
CREATE VIEW job_shown AS
SELECT id, uid, kind, tier, seq, run_at, status, waits_for, phase, progress, errors, last_error, failures, max_attempts,
       crashes, claim, worker, lease_until, key, fingerprint, org_id, project_id, build_id, subject, result, parent, retry_of,
       superseded_by, version, cancel_requested, delivery_ref, trace, date_created, date_started, date_completed,
       (SELECT json_agg(json_build_array(noun, name, state, error) ORDER BY position)::text
          FROM job_item
         WHERE job_item.job_id = job.id AND job_item.claim = job.claim) AS items
  FROM job;

-- One row and one expiry for input and output, so that they expire together.
CREATE TABLE render_cache (
    fingerprint  TEXT PRIMARY KEY,
    org_id       TEXT    NOT NULL,
    kind         TEXT    NOT NULL,
    fields       TEXT    NOT NULL,
    job_id       BIGINT NOT NULL REFERENCES job,
    short_link   TEXT,
    artifact     TEXT,
    hits         BIGINT NOT NULL DEFAULT 0,
    date_created BIGINT NOT NULL,
    expires_at   BIGINT NOT NULL
);
CREATE INDEX render_cache_expiry ON render_cache (expires_at);
CREATE INDEX render_cache_nearest ON render_cache (org_id, kind, date_created);
CREATE INDEX render_cache_job ON render_cache (job_id);

-- The fields of a fingerprint while its job is open; they move to render_cache when it completes.
CREATE TABLE job_input (
    job_id    BIGINT PRIMARY KEY REFERENCES job ON DELETE CASCADE,
    fields    TEXT    NOT NULL,
    cache_for BIGINT NOT NULL
);

-- What every process must know of a kind: whether it is paused, and whether ending its jobs needs its own code.
CREATE TABLE kind (
    name     TEXT PRIMARY KEY,
    settling BIGINT NOT NULL DEFAULT 0,
    paused   BIGINT NOT NULL DEFAULT 0
);

CREATE TABLE worker (
    uid        TEXT PRIMARY KEY,
    process    TEXT    NOT NULL,
    kinds      TEXT    NOT NULL,
    slots      BIGINT NOT NULL,
    running    BIGINT NOT NULL DEFAULT 0,
    date_started BIGINT NOT NULL,
    seen_at    BIGINT NOT NULL
);

CREATE TABLE schedule (
    name      TEXT PRIMARY KEY,
    cron      TEXT    NOT NULL,
    kind      TEXT    NOT NULL,
    payload   TEXT    NOT NULL,
    missed    TEXT    NOT NULL CHECK (missed IN ('one', 'skip', 'all')),
    key       TEXT,
    last_tick BIGINT NOT NULL
);

-- A tick fires once: whoever inserts it submits its job in the same transaction.
CREATE TABLE schedule_tick (
    schedule TEXT    NOT NULL REFERENCES schedule ON DELETE CASCADE,
    tick     BIGINT NOT NULL,
    job      TEXT    NOT NULL,
    PRIMARY KEY (schedule, tick)
);
