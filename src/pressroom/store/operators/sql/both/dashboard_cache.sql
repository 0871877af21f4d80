-- What the cache is worth: how many entries it has, how often they answered, and how long the jobs that made them ran, each time.
-- Of the :most that last longest. An entry that never answered saved nothing, so its job is not looked up.
SELECT count(*), CAST(coalesce(sum(entry.hits), 0) AS bigint),
       CAST(coalesce(sum(entry.hits * (job.date_completed - job.date_started)), 0) AS bigint)
  FROM (SELECT hits, job_id
          FROM render_cache
         WHERE expires_at > :now
         ORDER BY expires_at DESC
         LIMIT :most) AS entry
  LEFT JOIN job ON job.id = entry.job_id AND entry.hits > 0
