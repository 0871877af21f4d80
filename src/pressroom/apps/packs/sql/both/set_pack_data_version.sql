UPDATE packs_pack SET data_version = :number, date_changed = :now WHERE id = :id
