-- As find_nearest_cached.sql, but as it was when a job was submitted, as far as those entries are still there.
SELECT job.uid, render_cache.fields
  FROM render_cache
  JOIN job ON job.id = render_cache.job_id
 WHERE render_cache.org_id = :org_id AND render_cache.kind = :kind
   AND render_cache.date_created <= :created AND render_cache.expires_at > :created AND render_cache.job_id <> :id
 ORDER BY render_cache.date_created DESC
 LIMIT 20
