-- As the core prunes jobs, for the kinds of this app.
SELECT id
  FROM job
 WHERE prune_after <= :now AND kind LIKE 'docs.%'
   AND NOT EXISTS (SELECT 1 FROM render_cache WHERE render_cache.job_id = job.id)
   AND NOT EXISTS (SELECT 1 FROM job AS child WHERE child.parent = job.uid AND child.status IN ('queued', 'in_progress'))
 ORDER BY prune_after
 LIMIT :limit
