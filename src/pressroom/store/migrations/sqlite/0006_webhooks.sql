-- Webhooks: whom to tell, the secrets to sign with, and what is told.

-- `events` and `kinds` choose; no kinds means all of them. One that is disabled is told nothing more.
CREATE TABLE webhook (
    uid              TEXT PRIMARY KEY CHECK (length(uid) = 26),
    org_id           TEXT    NOT NULL,
    url              TEXT    NOT NULL,
    events           TEXT    NOT NULL CHECK (json_valid(events)),
    kinds            TEXT    CHECK (kinds IS NULL OR json_valid(kinds)),
    disabled_because TEXT,
    date_created     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX webhook_org ON webhook (org_id, uid);

-- Apart from the webhook, so that no statement that shows one can show these. The newest has no expiry.
CREATE TABLE webhook_secret (
    webhook    TEXT NOT NULL REFERENCES webhook ON DELETE CASCADE,
    secret     TEXT NOT NULL,
    expires_at INTEGER,
    PRIMARY KEY (webhook, secret)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX webhook_secret_newest ON webhook_secret (webhook) WHERE expires_at IS NULL;

-- One event for one webhook. `job` is the job that delivers it; NULL until there is one. `facts` are what is told: they
-- are kept here, because the job that they are about may be gone by the last attempt.
CREATE TABLE webhook_delivery (
    id             INTEGER PRIMARY KEY AUTOINCREMENT,
    uid            TEXT    NOT NULL UNIQUE DEFAULT (lower(hex(randomblob(16)))),
    webhook        TEXT    NOT NULL REFERENCES webhook ON DELETE CASCADE,
    event          INTEGER, -- of job_event, which may be gone; NULL for a test
    type           TEXT    NOT NULL,
    facts          TEXT    NOT NULL CHECK (json_valid(facts)),
    state          TEXT    NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'delivered', 'failed', 'cancelled')),
    job            TEXT,
    attempts       INTEGER NOT NULL DEFAULT 0,
    status         INTEGER,
    response       TEXT    CHECK (response IS NULL OR length(response) <= 1024),
    error          TEXT,
    date_created   INTEGER NOT NULL,
    date_attempted INTEGER,
    date_ended     INTEGER,

    UNIQUE (webhook, event),
    CHECK ((state = 'waiting') = (date_ended IS NULL))
) STRICT;
CREATE INDEX webhook_delivery_of ON webhook_delivery (webhook, id);
CREATE INDEX webhook_delivery_due ON webhook_delivery (id) WHERE job IS NULL AND state = 'waiting';
CREATE INDEX webhook_delivery_ended ON webhook_delivery (date_ended) WHERE date_ended IS NOT NULL;

-- Whoever ends a job, a worker, a cancel, a rescue or a tool, owes its deliveries from that very transaction on: a crash
-- loses none, and retention cannot be quicker. Telling of a delivery would never end, so its own job is left out.
-- A result that is too long to be told is fetched by whoever wants it.
--
-- The types are compared one by one: for IN a trigger makes a table of them at every event, which cost 1.5 µs instead of 0.2.
CREATE TRIGGER webhook_owes AFTER INSERT ON job_event
WHEN (NEW.type = 'completed' OR NEW.type = 'completed_with_errors' OR NEW.type = 'failed' OR NEW.type = 'cancelled')
 AND EXISTS (SELECT 1 FROM webhook)
BEGIN
    INSERT INTO webhook_delivery (webhook, event, type, facts, date_created)
    SELECT webhook.uid, NEW.id, 'job.' || NEW.type,
           json_object('id', job.uid, 'kind', job.kind, 'status', job.status, 'subject', job.subject, 'key', job.key,
                       'project_id', job.project_id, 'build_id', job.build_id, 'attempts', job.failures,
                       'last_error', job.last_error, 'error', json(json_remove(json_extract(job.errors, '$[#-1]'), '$.detail')),
                       'result', json(CASE WHEN length(job.result) <= 12000 THEN job.result END),
                       'result_omitted', json(CASE WHEN length(job.result) > 12000 THEN 'true' ELSE 'false' END),
                       'created', job.date_created, 'started', job.date_started, 'completed', job.date_completed),
           NEW.at
      FROM job
      JOIN webhook ON webhook.org_id = job.org_id AND webhook.disabled_because IS NULL
     WHERE job.id = NEW.job_id AND job.kind <> 'webhook'
       AND EXISTS (SELECT 1 FROM json_each(webhook.events) WHERE value = 'job.' || NEW.type)
       AND (webhook.kinds IS NULL OR EXISTS (SELECT 1 FROM json_each(webhook.kinds) WHERE value = job.kind));
END;
