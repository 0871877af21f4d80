-- Lines that failed and have a pack: a text that is no pack does not become one.
SELECT number, pack
  FROM packs_batch_state
 WHERE batch = :batch AND number > :after AND pack IS NOT NULL AND status = 'failed'
 ORDER BY number
 LIMIT :limit
