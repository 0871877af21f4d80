UPDATE packs_pack SET date_deleted = NULL, date_changed = :now WHERE id = :id
