-- Organisations, projects, builds and editions. Times are milliseconds; ids are 26 characters of Base32 like those of jobs.

CREATE TABLE docs_org (
    slug                TEXT    PRIMARY KEY,           -- the org_id of its jobs and tokens
    title               TEXT    NOT NULL,
    base_domain         TEXT    NOT NULL DEFAULT '',
    url_scheme          TEXT    NOT NULL DEFAULT 'path_prefix' CHECK (url_scheme IN ('subdomain', 'path_prefix')),
    root_path_prefix    TEXT    NOT NULL DEFAULT '/',
    slug_rewrite_rules  TEXT    NOT NULL DEFAULT '[]',
    lifecycle_rules     TEXT    NOT NULL DEFAULT '[]',
    auto_create         TEXT    NOT NULL DEFAULT '{}',
    default_edition     TEXT,
    purgatory_retention BIGINT NOT NULL DEFAULT 2592000 CHECK (purgatory_retention >= 0), -- seconds
    is_private          BIGINT NOT NULL DEFAULT 0 CHECK (is_private IN (0, 1)),
    slots               TEXT    NOT NULL DEFAULT '{}',           -- {"cdn_service": "our-cdn"}
    date_created        BIGINT NOT NULL,
    date_changed        BIGINT NOT NULL
);

CREATE TABLE docs_project (
    id                  TEXT    PRIMARY KEY CHECK (length(id) = 26),
    org                 TEXT    NOT NULL REFERENCES docs_org (slug),
    slug                TEXT    NOT NULL,
    title               TEXT    NOT NULL,
    source_url          TEXT    NOT NULL DEFAULT '',
    git_url             TEXT    NOT NULL DEFAULT '',
    slug_rewrite_rules  TEXT, -- NULL: the organisation's
    lifecycle_rules     TEXT,
    auto_create         TEXT,
    purgatory_retention BIGINT CHECK (purgatory_retention >= 0),
    on_broken_links     TEXT    NOT NULL DEFAULT 'warn' CHECK (on_broken_links IN ('warn', 'hold')),
    noindex             TEXT    NOT NULL DEFAULT '[]',
    last_number         BIGINT NOT NULL DEFAULT 0,   -- of its builds
    editions_version    BIGINT NOT NULL DEFAULT 0,   -- grows whenever an edition changes
    dashboard           TEXT,                         -- the artifact of the rendered dashboard
    dashboard_version   BIGINT NOT NULL DEFAULT 0,   -- the editions_version that it shows
    date_created        BIGINT NOT NULL,
    date_changed        BIGINT NOT NULL,
    date_deleted        BIGINT
);
-- A deleted project's slug can be used again (D27).
CREATE UNIQUE INDEX docs_project_slug ON docs_project (org, slug) WHERE date_deleted IS NULL;
CREATE INDEX docs_project_deleted ON docs_project (date_deleted) WHERE date_deleted IS NOT NULL;
CREATE TRIGGER docs_project_versions_grow BEFORE UPDATE OF last_number, editions_version ON docs_project
    FOR EACH ROW WHEN (NEW.last_number < OLD.last_number OR NEW.editions_version < OLD.editions_version)
    EXECUTE FUNCTION refuse_move('the counters of a project only grow');

CREATE TABLE docs_build (
    uid            TEXT    PRIMARY KEY CHECK (length(uid) = 26),
    project        TEXT    NOT NULL REFERENCES docs_project (id),
    number         BIGINT CHECK (number >= 1),       -- given when the upload is complete
    git_ref        TEXT    NOT NULL CHECK (git_ref <> ''),
    alternate_name TEXT    CHECK (alternate_name <> ''),
    content_hash   TEXT    NOT NULL CHECK (length(content_hash) = 71),  -- "sha256:" and 64 digits, of the archive
    status         TEXT    NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'processing', 'completed', 'failed')),
    upload_digest  TEXT,                              -- of the capability in its upload address, where we receive the archive
    uploader       TEXT    NOT NULL,
    annotations    TEXT    NOT NULL DEFAULT '{}',
    artifact       TEXT,
    object_count   BIGINT,
    total_size     BIGINT,
    broken_links   BIGINT,
    problems       TEXT,   -- the broken links, at most 200
    error          TEXT,
    job_uid        TEXT,
    date_created   BIGINT NOT NULL,
    date_uploaded  BIGINT,
    date_completed BIGINT,
    date_deleted   BIGINT,
    CHECK ((number IS NULL) = (date_uploaded IS NULL)),
    CHECK (status NOT IN ('processing', 'completed') OR number IS NOT NULL),
    CHECK (status <> 'completed' OR artifact IS NOT NULL),
    CHECK ((status IN ('completed', 'failed')) = (date_completed IS NOT NULL))
);
CREATE UNIQUE INDEX docs_build_number ON docs_build (project, number) WHERE number IS NOT NULL;
CREATE INDEX docs_build_created ON docs_build (project, date_created, uid) WHERE date_deleted IS NULL;
CREATE INDEX docs_build_ref ON docs_build (project, git_ref, number);
CREATE INDEX docs_build_open ON docs_build (date_created) WHERE status IN ('pending', 'processing');
CREATE INDEX docs_build_job ON docs_build (job_uid) WHERE job_uid IS NOT NULL;
CREATE INDEX docs_build_deleted ON docs_build (date_deleted) WHERE date_deleted IS NOT NULL;
CREATE TRIGGER docs_build_stays BEFORE UPDATE OF project, number, git_ref, alternate_name, content_hash, artifact ON docs_build
    FOR EACH ROW WHEN (OLD.project <> NEW.project OR OLD.git_ref <> NEW.git_ref OR OLD.alternate_name IS DISTINCT FROM NEW.alternate_name OR OLD.content_hash <> NEW.content_hash OR (OLD.number IS NOT NULL AND OLD.number IS DISTINCT FROM NEW.number) OR (OLD.artifact IS NOT NULL AND OLD.artifact IS DISTINCT FROM NEW.artifact))
    EXECUTE FUNCTION refuse_move('what a build is never changes');
CREATE TRIGGER docs_build_moves BEFORE UPDATE OF status ON docs_build
    FOR EACH ROW WHEN ((OLD.status = 'completed' AND NEW.status <> OLD.status) OR (OLD.status = 'processing' AND NEW.status = 'pending') OR (OLD.status = 'failed' AND NEW.status NOT IN ('failed', 'processing')))
    EXECUTE FUNCTION refuse_move('this build may not go there from where it is');

CREATE TABLE docs_edition (
    id                TEXT    PRIMARY KEY CHECK (length(id) = 26),
    project           TEXT    NOT NULL REFERENCES docs_project (id),
    slug              TEXT    NOT NULL,
    slug_key          TEXT    NOT NULL,               -- the slug without regard to case
    title             TEXT    NOT NULL,
    kind              TEXT    NOT NULL CHECK (kind IN ('main', 'release', 'draft', 'major', 'minor', 'alternate')),
    tracking_mode     TEXT    NOT NULL CHECK (tracking_mode IN
                      ('git_ref', 'alternate_git_ref', 'lsst_doc', 'eups_major_release', 'eups_weekly_release', 'eups_daily_release',
                       'semver_release', 'semver_major', 'semver_minor', 'manual')),
    tracking_params   TEXT    NOT NULL DEFAULT '{}',
    lifecycle_exempt  BIGINT NOT NULL DEFAULT 0 CHECK (lifecycle_exempt IN (0, 1)),
    pinned            BIGINT NOT NULL DEFAULT 0 CHECK (pinned IN (0, 1)),
    build             TEXT    REFERENCES docs_build (uid),
    publish_status    TEXT    CHECK (publish_status IN ('pending', 'publishing', 'published', 'failed')),
    publish_seq       BIGINT NOT NULL DEFAULT 0,
    published_seq     BIGINT NOT NULL DEFAULT 0 CHECK (published_seq <= publish_seq),
    publish_error     TEXT,
    ref_missing_since BIGINT,
    date_created      BIGINT NOT NULL,
    date_changed      BIGINT NOT NULL,
    date_deleted      BIGINT,
    CHECK ((slug = '__main') = (kind = 'main')),
    CHECK ((build IS NULL) OR publish_status IS NOT NULL),
    CHECK (date_deleted IS NULL OR kind <> 'main' OR build IS NULL)
);
-- A deleted edition's slug can be used again (D27).
CREATE UNIQUE INDEX docs_edition_slug ON docs_edition (project, slug_key) WHERE date_deleted IS NULL;
CREATE INDEX docs_edition_build ON docs_edition (build) WHERE build IS NOT NULL;
CREATE INDEX docs_edition_unpublished ON docs_edition (id) WHERE published_seq < publish_seq;
CREATE INDEX docs_edition_deleted ON docs_edition (date_deleted) WHERE date_deleted IS NOT NULL;
CREATE TRIGGER docs_edition_seq_grows BEFORE UPDATE OF publish_seq, published_seq ON docs_edition
    FOR EACH ROW WHEN (NEW.publish_seq < OLD.publish_seq OR NEW.published_seq < OLD.published_seq)
    EXECUTE FUNCTION refuse_move('the sequence of an edition only grows');

-- What an edition came to show. The newest entry is the one with the highest seq: nothing is renumbered (D35).
CREATE TABLE docs_history (
    edition        TEXT    NOT NULL REFERENCES docs_edition (id),
    build          TEXT    NOT NULL REFERENCES docs_build (uid),
    seq            BIGINT NOT NULL,
    "trigger"      TEXT    NOT NULL CHECK ("trigger" IN ('build', 'patch', 'rollback', 'restore')),
    actor          TEXT    NOT NULL,
    job_uid        TEXT,
    publish_status TEXT    NOT NULL CHECK (publish_status IN ('pending', 'publishing', 'published', 'failed')),
    error          TEXT,
    date_created   BIGINT NOT NULL,
    PRIMARY KEY (edition, seq)
);
CREATE INDEX docs_history_build ON docs_history (build);
CREATE INDEX docs_history_publishing ON docs_history (job_uid) WHERE publish_status = 'publishing';
CREATE TRIGGER docs_history_stays BEFORE UPDATE OF edition, build, seq, "trigger", actor, job_uid, date_created ON docs_history
    FOR EACH ROW
    EXECUTE FUNCTION refuse_move('the history of an edition is only appended to');

-- What was deleted and can be restored until `purge_after`.
CREATE TABLE docs_purgatory (
    id           TEXT    PRIMARY KEY CHECK (length(id) = 26),
    org          TEXT    NOT NULL REFERENCES docs_org (slug),
    project      TEXT    NOT NULL REFERENCES docs_project (id),
    what         TEXT    NOT NULL CHECK (what IN ('project', 'edition', 'build')),
    subject      TEXT    NOT NULL,                    -- the id of that project, edition or build
    name         TEXT    NOT NULL,                    -- for people
    reason       TEXT    NOT NULL,
    actor        TEXT    NOT NULL,
    objects      BIGINT NOT NULL DEFAULT 0,
    bytes        BIGINT NOT NULL DEFAULT 0,
    date_entered BIGINT NOT NULL,
    purge_after  BIGINT NOT NULL,
    UNIQUE (what, subject)
);
CREATE INDEX docs_purgatory_org ON docs_purgatory (org, date_entered);
CREATE INDEX docs_purgatory_due ON docs_purgatory (purge_after);

-- The table of design 004, for readers of SQL. Items of a phase are rows of job_item; here they have the design's shape (Q8).
CREATE VIEW queue_job AS
SELECT job.id, job.uid AS public_id, job.delivery_ref AS oban_job_id, substr(job.kind, 6) AS kind, job.status, job.phase,
       job.org_id, job.project_id, job.build_id,
       CASE WHEN job.progress::jsonb ->> 'items' IS NULL THEN job.progress::jsonb
            ELSE (job.progress::jsonb - 'items') || (
                SELECT jsonb_build_object(
                           (job.progress::jsonb ->> 'items') || '_total', count(*),
                           (job.progress::jsonb ->> 'items') || '_completed',
                           coalesce(jsonb_agg(job_item.name ORDER BY job_item.position) FILTER (WHERE job_item.state = 'completed'), '[]'),
                           (job.progress::jsonb ->> 'items') || '_failed',
                           coalesce(jsonb_agg(jsonb_build_object('slug', job_item.name, 'error', job_item.error) ORDER BY job_item.position)
                                    FILTER (WHERE job_item.state = 'failed'), '[]'),
                           (job.progress::jsonb ->> 'items') || '_in_progress',
                           coalesce(jsonb_agg(job_item.name ORDER BY job_item.position) FILTER (WHERE job_item.state = 'in_progress'), '[]'))
                  FROM job_item
                 WHERE job_item.job_id = job.id AND job_item.claim = job.claim AND job_item.noun = job.progress::jsonb ->> 'items')
       END AS progress,
       job.errors, job.date_created, job.date_started, job.date_completed
  FROM job
 WHERE job.kind LIKE 'docs.%';
