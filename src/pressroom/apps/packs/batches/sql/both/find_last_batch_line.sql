SELECT coalesce(max(number), 0) FROM packs_batch_line WHERE batch = :batch
