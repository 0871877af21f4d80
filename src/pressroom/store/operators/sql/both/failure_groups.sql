-- Every group of failures, at most :groups, with its newest job. It jumps from print to print and does not read what lies between.
-- Of an organisation's own, the newest is looked for among the :deep newest of the group.
WITH RECURSIVE known (print) AS (
    SELECT min(print) FROM job_failure
     UNION ALL
    SELECT (SELECT min(job_failure.print) FROM job_failure WHERE job_failure.print > known.print)
      FROM known
     WHERE known.print IS NOT NULL
)
SELECT listed.print, job.kind, job.id, job.date_completed
  FROM (SELECT print,
               (SELECT newest.job_id
                  FROM (SELECT job_id
                          FROM job_failure
                         WHERE job_failure.print = known.print
                         ORDER BY job_id DESC
                         LIMIT CASE WHEN :org_id IS NULL THEN 1 ELSE :deep END) AS newest
                  JOIN job AS own ON own.id = newest.job_id
                 WHERE :org_id IS NULL OR own.org_id = :org_id
                 ORDER BY newest.job_id DESC
                 LIMIT 1) AS sample
          FROM known
         WHERE print IS NOT NULL
         LIMIT :groups) AS listed
  JOIN job ON job.id = listed.sample
