-- A job failed in the last day, of a kind that raises alerts, and there is no alert of it.
--
-- An alert is kept for a day at least after it was acknowledged. The history tells what time it is.
SELECT job.uid, 'kind ' || job.kind || ', subject ' || coalesce(job.subject, '') || ', failed at ' || job.date_completed
  FROM job
  JOIN kind ON kind.name = job.kind AND kind.alert_since < job.date_completed
 WHERE job.status = 'failed'
   AND job.date_completed > (SELECT max(at) FROM job_event) - 86400000
   AND NOT EXISTS (SELECT 1 FROM alert
                    WHERE alert.org_id = job.org_id AND alert.kind = job.kind AND alert.subject = coalesce(job.subject, '')
                      AND alert.first_at <= job.date_completed AND alert.last_at >= job.date_completed)
