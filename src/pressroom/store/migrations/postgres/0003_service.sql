-- What the service keeps for its callers.

-- Answers to requests with an Idempotency-Key. The scope is caller, method and path.
CREATE TABLE reply (
    scope      TEXT    NOT NULL,
    key        TEXT    NOT NULL,
    digest     TEXT    NOT NULL,
    status     BIGINT NOT NULL,
    headers    TEXT    NOT NULL,
    body       TEXT    NOT NULL,
    expires_at BIGINT NOT NULL,
    PRIMARY KEY (scope, key)
);
CREATE INDEX reply_expiry ON reply (expires_at);
