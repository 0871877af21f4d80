-- The newest ready file of each document of a batch's packs. By lines: :limit of them, whatever they have.
SELECT packs_batch_line.number, packs_pack.title, packs_render.doc_id, artifact.sha256, blob.generation, artifact.size
  FROM (SELECT number, pack FROM packs_batch_line WHERE batch = :batch AND number > :after ORDER BY number LIMIT :limit) AS packs_batch_line
  JOIN packs_pack ON packs_pack.id = packs_batch_line.pack AND packs_pack.date_deleted IS NULL
  JOIN packs_document ON packs_document.pack = packs_pack.id
  JOIN packs_render ON packs_render.pack = packs_document.pack AND packs_render.doc_id = packs_document.doc_id
                   AND packs_render.number = packs_document.good
  JOIN artifact ON artifact.uid = packs_render.artifact
  JOIN blob ON blob.sha256 = artifact.sha256
 ORDER BY packs_batch_line.number, packs_render.doc_id
