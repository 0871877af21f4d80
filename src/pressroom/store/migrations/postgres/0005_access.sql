-- Who may use the service.

-- A token's secret is shown once and never kept: only its hash is here, and enough of its beginning to recognise it.
CREATE TABLE token (
    uid          TEXT    PRIMARY KEY,
    digest       TEXT    NOT NULL UNIQUE CHECK (length(digest) = 64),
    prefix       TEXT    NOT NULL,
    name         TEXT    NOT NULL,
    scope        TEXT    NOT NULL CHECK (scope IN ('viewer', 'submitter', 'operator', 'admin')),
    org_id       TEXT    NOT NULL DEFAULT '',
    everywhere   BIGINT NOT NULL DEFAULT 0 CHECK (everywhere IN (0, 1)),
    date_created BIGINT NOT NULL,
    expires_at   BIGINT ,
    revoked_at   BIGINT ,
    used_at      BIGINT ,
    CHECK (everywhere = 0 OR org_id = '')
);
