-- :failures is an array of [job id, print, version].
INSERT INTO job_failure (job_id, print, version)
SELECT (value->>0)::bigint, value->>1, value->>2 FROM jsonb_array_elements(:failures::jsonb)
