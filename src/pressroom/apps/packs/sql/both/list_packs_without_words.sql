-- Packs that search does not know yet, as they are in a database from before there was search.
SELECT packs_pack.id, packs_pack.title, packs_pack.user_id, packs_pack.session_id, packs_data.body
  FROM packs_pack
  JOIN packs_data ON packs_data.pack = packs_pack.id AND packs_data.number = packs_pack.data_version
 WHERE NOT EXISTS (SELECT 1 FROM packs_text WHERE packs_text.pack = packs_pack.id)
 ORDER BY packs_pack.id
 LIMIT :limit
