-- As pulse_cache, for one organisation. It reads the entries in the order of their index, which is by kind: those that last
-- longest would have to be looked for among all that others have.
SELECT count(*), CAST(coalesce(sum(entry.hits), 0) AS bigint),
       CAST(coalesce(sum(entry.hits * (job.date_completed - job.date_started)), 0) AS bigint)
  FROM (SELECT hits, job_id
          FROM render_cache
         WHERE org_id = :org_id AND expires_at > :now
         ORDER BY kind DESC, date_created DESC
         LIMIT :most) AS entry
  LEFT JOIN job ON job.id = entry.job_id AND entry.hits > 0
