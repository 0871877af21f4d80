-- The open job of a kind and key: whatever ended before it is older news.
SELECT id, uid, version
  FROM job
 WHERE org_id = :org_id AND key = :key AND kind = :kind AND status IN ('queued', 'in_progress') AND cancel_requested = 0
 ORDER BY seq DESC
 LIMIT 1
