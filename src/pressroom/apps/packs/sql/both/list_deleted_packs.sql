-- The packs that can be restored, those that were deleted last first.
SELECT id, org_id, session_id, user_id, title, lang, link_digest, link_expires_at, data_version, date_created, date_changed, date_deleted
  FROM packs_pack
 WHERE org_id = :org_id AND date_deleted IS NOT NULL
 ORDER BY date_deleted DESC, id DESC
 LIMIT :limit
