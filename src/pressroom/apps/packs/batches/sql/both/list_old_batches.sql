SELECT id FROM packs_batch WHERE date_created <= :before ORDER BY date_created LIMIT :limit
