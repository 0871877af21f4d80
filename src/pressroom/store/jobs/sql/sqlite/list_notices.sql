-- Those of some jobs that may start now. The payload comes along if the kind is among :with_payload.
SELECT uid, kind, tier, (SELECT body FROM job_payload
                          WHERE job_id = job.id AND job.kind IN (SELECT value FROM json_each(:with_payload)))
  FROM job
 WHERE id IN (SELECT value FROM json_each(:ids)) AND status = 'queued' AND waits_for IS NULL
 ORDER BY tier, seq
