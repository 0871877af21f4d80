-- :events is an array of [job id, type, data].
INSERT INTO job_event (job_id, at, type, data)
SELECT (value->>0)::bigint, :now, value->>1, value->>2 FROM jsonb_array_elements(:events::jsonb)
