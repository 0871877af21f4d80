-- Alerts of jobs that this transaction ended as failed, if their kinds raise any. :failures is an array of
-- [job id, code, message]; :repeat_after is how many milliseconds lie between two notices of one open alert.
--
-- An alert that is open takes the failure up: of two transactions one inserts it, and the other raises its count.
INSERT INTO alert (org_id, kind, subject, code, message, count, job_uid, job_id, first_at, last_at, notified_at)
SELECT org_id, kind, subject, code, message, failures, uid, id, :now, :now, :now
  FROM (SELECT job.org_id, job.kind, coalesce(job.subject, '') AS subject, value->>1 AS code, value->>2 AS message, job.uid, job.id,
               count(*) OVER (PARTITION BY job.org_id, job.kind, coalesce(job.subject, ''), value->>1) AS failures,
               row_number() OVER (PARTITION BY job.org_id, job.kind, coalesce(job.subject, ''), value->>1
                                  ORDER BY job.id DESC) AS place
          FROM json_each(:failures)
          JOIN job ON job.id = value->>0
          JOIN kind ON kind.name = job.kind AND kind.alert_since IS NOT NULL)
 WHERE place = 1
 ORDER BY org_id, kind, subject, code
    ON CONFLICT (org_id, kind, subject, code) WHERE acked_at IS NULL DO UPDATE
   SET count = alert.count + excluded.count,
       message = excluded.message,
       job_uid = excluded.job_uid,
       job_id = excluded.job_id,
       first_at = min(alert.first_at, excluded.first_at),
       last_at = max(alert.last_at, excluded.last_at),
       notified_at = CASE WHEN excluded.last_at - alert.notified_at >= :repeat_after THEN excluded.last_at
                          ELSE alert.notified_at END
