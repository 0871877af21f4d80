-- The bytes of all entries but kept ones.
SELECT coalesce(sum(artifact.size), 0)
  FROM render_cache
  JOIN artifact ON artifact.uid = render_cache.artifact
 WHERE render_cache.kept_for IS NULL
