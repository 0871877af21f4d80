-- Dashboard templates in git repositories, what webhooks delivered, and what is known of the refs of repositories.

CREATE TABLE docs_template (
    id           TEXT    PRIMARY KEY CHECK (length(id) = 26),
    org          TEXT    NOT NULL REFERENCES docs_org (slug) ON DELETE CASCADE,
    project      TEXT    REFERENCES docs_project (id) ON DELETE CASCADE, -- NULL: of all projects of the organisation
    git_url      TEXT    NOT NULL CHECK (git_url <> ''),
    repository   TEXT    NOT NULL,                    -- the address as webhooks are compared with: host and path
    git_ref      TEXT    NOT NULL CHECK (git_ref <> ''),
    root_path    TEXT    NOT NULL DEFAULT '/',
    commit_sha   TEXT,                                -- of what was synchronised last
    tree_sha     TEXT,
    artifact     TEXT,                                -- the last good template; NULL: none was synchronised yet
    sync_status  TEXT    NOT NULL DEFAULT 'pending' CHECK (sync_status IN ('pending', 'syncing', 'synced', 'failed')),
    sync_error   TEXT,
    job_uid      TEXT,
    date_created INTEGER NOT NULL,
    date_changed INTEGER NOT NULL,
    date_synced  INTEGER
) STRICT;
CREATE UNIQUE INDEX docs_template_org ON docs_template (org) WHERE project IS NULL;
CREATE UNIQUE INDEX docs_template_project ON docs_template (project) WHERE project IS NOT NULL;
CREATE INDEX docs_template_repository ON docs_template (repository);

CREATE TABLE docs_webhook_delivery (
    id            TEXT    PRIMARY KEY,
    digest        TEXT    NOT NULL,                   -- of its body
    date_received INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX docs_webhook_delivery_received ON docs_webhook_delivery (date_received);

CREATE TABLE docs_repository (
    git_url       TEXT    PRIMARY KEY,
    refs          INTEGER NOT NULL,                   -- in the last answer that had some
    empty_answers INTEGER NOT NULL DEFAULT 0,         -- in a row
    date_checked  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
