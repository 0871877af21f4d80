-- The queued job that a submit of the same kind and key meets; the last in line if there are several.
SELECT id, uid, version, tier, run_at
  FROM job
 WHERE org_id = :org_id AND key = :key AND status = 'queued' AND kind = :kind AND cancel_requested = 0
 ORDER BY seq DESC
 LIMIT 1
