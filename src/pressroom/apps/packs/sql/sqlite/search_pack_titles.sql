-- Packs whose titles have all words, the last of which may be only begun; the newest first.
SELECT packs_pack.id, packs_pack.title
  FROM packs_index
  JOIN packs_text ON packs_text.id = packs_index.rowid
  JOIN packs_pack ON packs_pack.id = packs_text.pack
 WHERE packs_index MATCH (SELECT 'title : (' || group_concat('"' || value || '"', ' ') || '*)' FROM json_each(:words))
   AND packs_pack.org_id = :org_id AND packs_pack.date_deleted IS NULL
 ORDER BY packs_index.rowid DESC
 LIMIT :limit
