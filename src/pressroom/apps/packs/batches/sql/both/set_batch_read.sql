UPDATE packs_batch SET date_read = :now WHERE id = :id AND date_read IS NULL
