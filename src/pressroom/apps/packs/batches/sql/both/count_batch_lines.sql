SELECT status, count(*) FROM packs_batch_state WHERE batch = :batch GROUP BY status
