-- :failures is an array of [job id, print, version].
INSERT INTO job_failure (job_id, print, version)
SELECT (value->>0), value->>1, value->>2 FROM json_each(:failures)
