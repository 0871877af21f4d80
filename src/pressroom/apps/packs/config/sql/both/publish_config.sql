-- Exactly one version of a key is published; only one that was found valid can be.
UPDATE packs_config
   SET status = 'published', date_published = :now
 WHERE org_id = :org_id AND key = :key AND number = :number AND status IN ('valid', 'retired')
RETURNING number
