SELECT id FROM packs_pack WHERE date_deleted IS NOT NULL AND date_deleted <= :before ORDER BY date_deleted LIMIT :limit
