DELETE FROM packs_render WHERE pack = :pack RETURNING doc_id, number, outcome
