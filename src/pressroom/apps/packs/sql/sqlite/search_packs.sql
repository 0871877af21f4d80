-- As list_packs, of the packs that have all words, the last of which may be only begun. Of a common word, so many of the newest packs are looked at.
WITH found AS MATERIALIZED (
    SELECT packs_text.pack
      FROM packs_index
      JOIN packs_text ON packs_text.id = packs_index.rowid
      JOIN packs_pack ON packs_pack.id = packs_text.pack
     WHERE packs_index MATCH (SELECT group_concat('"' || value || '"', ' ') || '*' FROM json_each(:words))
       AND packs_pack.org_id = :org_id AND packs_pack.date_deleted IS NULL AND packs_pack.id < :before
     ORDER BY packs_index.rowid DESC
     LIMIT 5000
)
SELECT /* pack_columns */
  FROM found
  JOIN packs_pack ON packs_pack.id = found.pack
 WHERE /* pack_filters */
 ORDER BY packs_pack.id DESC
 LIMIT :limit
