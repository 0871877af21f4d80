-- Created long ago and never uploaded.
SELECT uid
  FROM docs_build
 WHERE status = 'pending' AND date_created < :before
 ORDER BY date_created
 LIMIT :limit
