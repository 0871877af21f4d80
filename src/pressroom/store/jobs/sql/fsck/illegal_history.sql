-- A job started while it ran already, or came back from where it had not been.
SELECT uid, type || ' came after ' || coalesce(before, 'nothing')
  FROM (SELECT job.uid, job_event.type, lag(job_event.type) OVER (PARTITION BY job_event.job_id ORDER BY job_event.id) AS before
          FROM job_event
          JOIN job ON job.id = job_event.job_id
         WHERE job_event.type IN ('queued', 'started', 'retrying', 'postponed', 'released', 'lost')) AS moves
 WHERE (type = 'queued' AND before IS NOT NULL)
    OR (type = 'started' AND coalesce(before, 'nothing') NOT IN ('queued', 'retrying', 'postponed', 'released', 'lost'))
    OR (type IN ('retrying', 'postponed', 'released', 'lost') AND coalesce(before, 'nothing') <> 'started')
