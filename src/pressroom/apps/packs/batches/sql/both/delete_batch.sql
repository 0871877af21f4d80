DELETE FROM packs_batch WHERE id = :id
