-- A restore waits for this, and then finds no pack.
UPDATE packs_pack SET date_deleted = date_deleted WHERE id = :id AND date_deleted IS NOT NULL RETURNING id
