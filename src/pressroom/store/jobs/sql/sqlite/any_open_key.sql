-- Whether any of :keys, pairs of an organisation and a key, has an open job. Both looks go by an index.
SELECT 1
  FROM json_each(:keys) AS named
 WHERE EXISTS (SELECT 1 FROM job WHERE org_id = named.value->>0 AND key = named.value->>1 AND status = 'queued')
    OR EXISTS (SELECT 1 FROM job
                WHERE org_id = named.value->>0 AND key = named.value->>1 AND key IS NOT NULL
                  AND (status = 'in_progress' OR (status = 'queued' AND waits_for IS NULL)))
 LIMIT 1
