-- To look up its job for each event cost more than to write the event. An event is only written for a job that the same
-- transaction has locked or made, and fsck finds one that was not.
ALTER TABLE job_event DROP CONSTRAINT job_event_job_id_fkey;

CREATE FUNCTION job_takes_its_history() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM job_event USING gone WHERE job_event.job_id = gone.id;
    RETURN NULL;
END $$;

CREATE TRIGGER job_takes_its_history AFTER DELETE ON job REFERENCING OLD TABLE AS gone FOR EACH STATEMENT
    EXECUTE FUNCTION job_takes_its_history();
