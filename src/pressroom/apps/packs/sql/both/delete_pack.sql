DELETE FROM packs_pack WHERE id = :id AND date_deleted IS NOT NULL
