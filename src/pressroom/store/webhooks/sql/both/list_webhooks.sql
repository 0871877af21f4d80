-- Of one organisation, or of all if NULL, oldest first.
SELECT uid, org_id, url, events, kinds, disabled_because, date_created
  FROM webhook
 WHERE (:org_id IS NULL OR org_id = :org_id) AND uid > :after
 ORDER BY uid
 LIMIT :limit
