-- :events is an array of [job id, type, data].
INSERT INTO job_event (job_id, at, type, data) SELECT value->>0, :now, value->>1, value->>2 FROM json_each(:events)
