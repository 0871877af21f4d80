-- All that an idle worker wants to know, in one look: of each kind how many more may be in progress (NULL is no limit) and whether
-- one may start now; and when the next job is due.
SELECT kind.name,
       CASE WHEN kind.slots IS NOT NULL
            THEN kind.slots - (SELECT count(*) FROM job WHERE job.status = 'in_progress' AND job.kind = kind.name) END,
       kind.paused = 0
       AND EXISTS (SELECT 1 FROM job WHERE job.kind = kind.name AND job.status = 'queued' AND job.waits_for IS NULL),
       (SELECT min(run_at) FROM job WHERE status = 'queued' AND waits_for = 'time')
  FROM kind
