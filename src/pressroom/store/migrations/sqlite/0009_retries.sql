-- A job that was tried again is asked for the job that did so. Few were, so the index is small.
CREATE INDEX job_retry_of ON job (retry_of, id) WHERE retry_of IS NOT NULL;
