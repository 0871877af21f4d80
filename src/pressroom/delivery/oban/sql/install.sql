-- What makes every job that may start known to oban, in the transaction that lets it start. The oban job carries the uid and
-- the tier; `delivery_ref` is its id. Whatever oban does with it, the row in `job` decides.
CREATE OR REPLACE FUNCTION pressroom.oban_queue(kind TEXT, tier BIGINT) RETURNS TEXT LANGUAGE sql IMMUTABLE AS
$$ SELECT 'pressroom-' || kind || CASE WHEN tier > 0 THEN '-background' ELSE '' END $$;

CREATE OR REPLACE FUNCTION pressroom.oban_enlist(ref BIGINT, uid TEXT, kind TEXT, tier BIGINT, run_at BIGINT) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO {schema}.oban_jobs (id, state, queue, worker, priority, args, scheduled_at)
    OVERRIDING SYSTEM VALUE
    VALUES (ref, CASE WHEN run_at IS NULL THEN 'available' ELSE 'scheduled' END::{schema}.oban_job_state,
            pressroom.oban_queue(kind, tier), 'pressroom.delivery.oban.workers.Perform', tier,
            jsonb_build_object('uid', uid, 'tier', tier),
            coalesce(timezone('UTC', to_timestamp(run_at / 1000.0)), timezone('UTC', now())));
    IF run_at IS NULL THEN
        PERFORM pg_notify('{schema}.oban_insert', json_build_object('queue', pressroom.oban_queue(kind, tier))::text);
    END IF;
END $$;

-- A number first, for each row; then all of a statement's oban jobs at once. A kind with a worker of its own is not oban's.
CREATE OR REPLACE FUNCTION pressroom.oban_number() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM pressroom.kind WHERE name = NEW.kind AND uses_delivery = 0) THEN
        RETURN NEW;
    END IF;
    NEW.delivery_ref := nextval('{schema}.oban_jobs_id_seq')::text;
    RETURN NEW;
END $$;

CREATE OR REPLACE FUNCTION pressroom.oban_enlist_added() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    named TEXT;
BEGIN
    INSERT INTO {schema}.oban_jobs (id, state, queue, worker, priority, args, scheduled_at)
    OVERRIDING SYSTEM VALUE
    SELECT delivery_ref::bigint,
           CASE WHEN waits_for IS NULL THEN 'available' ELSE 'scheduled' END::{schema}.oban_job_state,
           pressroom.oban_queue(kind, tier), 'pressroom.delivery.oban.workers.Perform', tier,
           jsonb_build_object('uid', uid, 'tier', tier),
           CASE WHEN waits_for IS NULL THEN timezone('UTC', now()) ELSE timezone('UTC', to_timestamp(run_at / 1000.0)) END
      FROM added
     WHERE delivery_ref IS NOT NULL
     ORDER BY seq;
    FOR named IN SELECT DISTINCT pressroom.oban_queue(kind, tier) FROM added WHERE delivery_ref IS NOT NULL AND waits_for IS NULL
    LOOP
        PERFORM pg_notify('{schema}.oban_insert', json_build_object('queue', named)::text);
    END LOOP;
    RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION pressroom.oban_enlist_again() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM pressroom.kind WHERE name = NEW.kind AND uses_delivery = 0) THEN
        RETURN NEW;
    END IF;
    NEW.delivery_ref := nextval('{schema}.oban_jobs_id_seq')::text;
    PERFORM pressroom.oban_enlist(NEW.delivery_ref::bigint, NEW.uid, NEW.kind, NEW.tier,
                                  CASE WHEN NEW.waits_for = 'time' THEN NEW.run_at END);
    RETURN NEW;
END $$;

-- A job behind its key is enlisted when its turn comes.
CREATE OR REPLACE TRIGGER oban_number BEFORE INSERT ON pressroom.job FOR EACH ROW
    WHEN (NEW.status = 'queued' AND (NEW.waits_for IS NULL OR NEW.waits_for = 'time'))
    EXECUTE FUNCTION pressroom.oban_number();

CREATE OR REPLACE TRIGGER oban_enlist_added AFTER INSERT ON pressroom.job REFERENCING NEW TABLE AS added FOR EACH STATEMENT
    EXECUTE FUNCTION pressroom.oban_enlist_added();

-- An attempt that fails is snoozed by oban. A job is enlisted anew when its turn comes in the line of its key, when its
-- worker was lost, when a submit of a more urgent tier joined it, and when it is to start sooner than it was.
CREATE OR REPLACE TRIGGER oban_enlist_again BEFORE UPDATE ON pressroom.job FOR EACH ROW
    WHEN (NEW.status = 'queued' AND (NEW.waits_for IS NULL OR NEW.waits_for = 'time')
          AND ((OLD.waits_for = 'key' AND NEW.waits_for IS NULL)
               OR (OLD.status = 'in_progress' AND NEW.crashes > OLD.crashes)
               OR (OLD.status = 'queued' AND NEW.tier < OLD.tier)
               OR (OLD.status = 'queued' AND OLD.waits_for = 'time' AND NEW.run_at < OLD.run_at)))
    EXECUTE FUNCTION pressroom.oban_enlist_again();
