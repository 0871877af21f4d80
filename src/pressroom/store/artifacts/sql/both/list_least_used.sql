SELECT render_cache.fingerprint, render_cache.last_used, artifact.uid, artifact.size
  FROM render_cache
  JOIN artifact ON artifact.uid = render_cache.artifact
 WHERE render_cache.kept_for IS NULL
 ORDER BY render_cache.last_used
 LIMIT :limit
