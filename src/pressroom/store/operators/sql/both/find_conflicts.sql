-- Items that two jobs in progress of one project name, and how far each is with it. Only those of the current phase, which is
-- called as its items are: what an earlier phase named is done.
--
-- CROSS keeps SQLite from beginning with the items: those of ended jobs are kept as long as the jobs are.
SELECT org_id, noun, name, uid, state
  FROM (SELECT job.org_id, item.noun, item.name, job.uid, item.state, job.date_started, job.id,
               count(*) OVER (PARTITION BY job.org_id, item.noun, item.name) AS jobs
          FROM job
         CROSS JOIN job_item AS item
         WHERE item.job_id = job.id AND item.claim = job.claim AND item.noun = job.phase
           AND job.status = 'in_progress' AND job.project_id = :project_id AND (:phase IS NULL OR job.phase = :phase)
           AND (:org_id IS NULL OR job.org_id = :org_id) AND (:item IS NULL OR item.name = :item)) AS named
 WHERE jobs > 1
 ORDER BY org_id, noun, name, date_started, id
 LIMIT :limit
