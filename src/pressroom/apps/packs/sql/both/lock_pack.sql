-- Renders of one pack are numbered, and its data is replaced, one after the other. The settling of a job does not take this lock.
UPDATE packs_pack
   SET date_changed = :now
 WHERE id = :id AND org_id = :org_id AND date_deleted IS NULL
RETURNING id, org_id, session_id, user_id, title, lang, link_digest, link_expires_at, data_version, date_created, date_changed, date_deleted
