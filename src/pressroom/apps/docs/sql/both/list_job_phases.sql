-- When attempts, phases and the end of a job were: enough to tell how long each phase of the last attempt took.
SELECT type, at, data
  FROM job_event
 WHERE job_id = :job_id AND type IN ('started', 'phase', 'retrying', 'postponed', 'released', 'lost', 'completed',
                                     'completed_with_errors', 'failed', 'cancelled')
 ORDER BY id DESC
 LIMIT :limit
