-- The newest ready file of each document of a user's packs.
SELECT packs_render.file_id, packs_render.pack, packs_render.doc_id, packs_render.number, packs_render.pages, packs_render.size,
       packs_render.date_settled
  FROM packs_pack
  JOIN packs_document ON packs_document.pack = packs_pack.id
  JOIN packs_render ON packs_render.pack = packs_document.pack AND packs_render.doc_id = packs_document.doc_id
                   AND packs_render.number = packs_document.good
 WHERE packs_pack.org_id = :org_id AND packs_pack.user_id = :user_id AND packs_pack.date_deleted IS NULL
 ORDER BY packs_pack.id DESC, packs_render.doc_id
 LIMIT :limit
