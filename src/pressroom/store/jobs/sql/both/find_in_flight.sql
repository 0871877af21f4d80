-- The open job that renders this very input. A job with another key is no match: coalescing may change what it renders.
-- Nor is one behind which a newer payload of the same key waits: going back to an earlier text is a change too, and the
-- last change must be the last to be rendered.
SELECT id, uid, version
  FROM job
 WHERE fingerprint = :fingerprint AND status IN ('queued', 'in_progress') AND cancel_requested = 0
   AND coalesce(key, '') = coalesce(:key, '')
   AND NOT EXISTS (SELECT 1 FROM job AS newer
                    WHERE newer.key = job.key AND newer.org_id = job.org_id AND newer.status = 'queued' AND newer.seq > job.seq)
 ORDER BY seq
 LIMIT 1
