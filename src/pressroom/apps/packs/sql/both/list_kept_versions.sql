-- Versions of a document whose files are still kept.
SELECT packs_render.number
  FROM packs_render
  JOIN artifact ON artifact.uid = packs_render.artifact
 WHERE packs_render.pack = :pack AND packs_render.doc_id = :doc_id AND packs_render.outcome = 'ready'
