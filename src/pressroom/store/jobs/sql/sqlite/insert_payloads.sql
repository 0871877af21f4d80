-- :payloads is an array of [job id, JSON text].
INSERT INTO job_payload (job_id, body) SELECT value->>0, value->>1 FROM json_each(:payloads)
