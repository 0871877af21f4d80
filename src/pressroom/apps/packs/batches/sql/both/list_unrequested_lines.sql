SELECT number, pack
  FROM packs_batch_line
 WHERE batch = :batch AND number > :after AND date_requested IS NULL AND error IS NULL
 ORDER BY number
 LIMIT :limit
