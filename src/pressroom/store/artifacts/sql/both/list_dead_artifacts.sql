-- What no job, hold, cache entry or unexpired link needs any more. A job needs its artifacts until it is pruned.
SELECT uid
  FROM artifact
 WHERE job_uid IS NULL AND coalesce(expires_at, 0) <= :now
   AND NOT EXISTS (SELECT 1 FROM artifact_hold WHERE artifact_hold.artifact = artifact.uid)
   AND NOT EXISTS (SELECT 1 FROM render_cache WHERE render_cache.artifact = artifact.uid AND render_cache.expires_at > :now)
 LIMIT :limit
