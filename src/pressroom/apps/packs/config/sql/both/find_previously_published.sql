-- The version to roll back to: of those before the published one, the newest that was published.
SELECT number
  FROM packs_config
 WHERE org_id = :org_id AND key = :key AND status = 'retired'
   AND number < (SELECT number FROM packs_config WHERE org_id = :org_id AND key = :key AND status = 'published')
 ORDER BY number DESC
 LIMIT 1
