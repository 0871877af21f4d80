-- Created long ago and never uploaded. The first condition is that of the index.
SELECT uid
  FROM docs_build
 WHERE status IN ('pending', 'processing') AND status = 'pending' AND date_created < :before
 ORDER BY date_created
 LIMIT :limit
