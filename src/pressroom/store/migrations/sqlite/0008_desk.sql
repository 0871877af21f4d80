-- The desk: who is logged in with a browser, and what was done there.

-- Of a session's secret only the hash is kept, as of a token's. It is as good as the token that opened it, and no longer.
CREATE TABLE web_session (
    digest       TEXT    PRIMARY KEY CHECK (length(digest) = 64),
    token        TEXT    NOT NULL REFERENCES token ON DELETE CASCADE,
    date_created INTEGER NOT NULL,
    seen_at      INTEGER NOT NULL,
    expires_at   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX web_session_expiry ON web_session (expires_at);

-- Append-only. `before` and `after` are what the action changed, as JSON.
CREATE TABLE audit (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    at         INTEGER NOT NULL,
    who        TEXT    NOT NULL,
    org_id     TEXT    NOT NULL DEFAULT '',
    action     TEXT    NOT NULL,
    target     TEXT    NOT NULL,
    before     TEXT    CHECK (before IS NULL OR json_valid(before)),
    after      TEXT    CHECK (after IS NULL OR json_valid(after)),
    request_id TEXT    NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX audit_target ON audit (target, id);

CREATE TRIGGER audit_is_append_only BEFORE UPDATE ON audit
BEGIN
    SELECT RAISE(ABORT, 'illegal move: the audit is append-only');
END;

-- Jobs that failed, by what their errors have in common: `print` is the same for two messages that differ in numbers, names and
-- places only. `version` is that of the engine, where one was at work. The newest of a group are asked for by id.
CREATE TABLE job_failure (
    job_id  INTEGER PRIMARY KEY REFERENCES job ON DELETE CASCADE,
    print   TEXT    NOT NULL CHECK (length(print) = 16),
    version TEXT
) STRICT;
CREATE INDEX job_failure_print ON job_failure (print, job_id);
