-- Ready versions of a document whose files are kept and need not be: all but the newest. Others of them follow the next time.
SELECT packs_render.number
  FROM packs_render
  JOIN artifact_hold ON artifact_hold.artifact = packs_render.artifact
 WHERE packs_render.pack = :pack AND packs_render.doc_id = :doc_id AND packs_render.outcome = 'ready'
 ORDER BY packs_render.number DESC
 LIMIT :limit OFFSET :keep
