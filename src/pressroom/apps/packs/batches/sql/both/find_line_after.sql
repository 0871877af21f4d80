-- The last of the next :limit lines; NULL if there are none.
SELECT max(number)
  FROM (SELECT number FROM packs_batch_line WHERE batch = :batch AND number > :after ORDER BY number LIMIT :limit) AS lines
