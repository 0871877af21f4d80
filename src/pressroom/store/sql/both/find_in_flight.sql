-- The open job that renders this very input. A job with another key is no match: coalescing may change what it renders.
SELECT id, uid, version, status, waits_for
  FROM job
 WHERE fingerprint = :fingerprint AND status IN ('queued', 'in_progress') AND cancel_requested = 0
   AND coalesce(key, '') = coalesce(:key, '')
 ORDER BY seq
 LIMIT 1
