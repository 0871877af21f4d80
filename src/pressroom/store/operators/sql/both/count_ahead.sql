-- How many jobs of its kind are ready and come before a queued one, counted no further than :limit. No row if it does not wait.
-- The two halves are each a range of job_ready.
SELECT (SELECT count(*)
          FROM (SELECT 1 FROM job AS other
                 WHERE other.kind = job.kind AND other.status = 'queued' AND other.waits_for IS NULL AND other.tier < job.tier
                 UNION ALL
                SELECT 1 FROM job AS other
                 WHERE other.kind = job.kind AND other.status = 'queued' AND other.waits_for IS NULL
                   AND other.tier = job.tier AND other.seq < job.seq
                 LIMIT :limit) AS counted),
       job.kind
  FROM job
 WHERE job.id = :id AND job.status = 'queued'
