SELECT doc_id, number, artifact FROM packs_render WHERE pack = :pack AND outcome = 'ready'
