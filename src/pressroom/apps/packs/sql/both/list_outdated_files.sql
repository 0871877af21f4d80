-- Ready versions of a document whose files are no longer kept: all but the newest.
SELECT number, artifact
  FROM packs_render
 WHERE pack = :pack AND doc_id = :doc_id AND outcome = 'ready'
 ORDER BY number DESC
 LIMIT 100 OFFSET :keep
