-- How many jobs of its kind are ready and come before a queued one, counted no further than :limit. No row if it does not wait.
SELECT (SELECT count(*)
          FROM (SELECT 1 FROM job AS other
                 WHERE other.kind = job.kind AND other.status = 'queued' AND other.waits_for IS NULL
                   AND (other.tier, other.seq) < (job.tier, job.seq)
                 LIMIT :limit) AS counted),
       job.kind
  FROM job
 WHERE job.id = :id AND job.status = 'queued'
