-- Two jobs of one key are in progress, or may start at the same time.
SELECT min(uid), 'key ' || key || ' has ' || count(*) || ' holders'
  FROM job
 WHERE key IS NOT NULL AND (status = 'in_progress' OR (status = 'queued' AND waits_for IS NULL))
 GROUP BY org_id, key
HAVING count(*) > 1
