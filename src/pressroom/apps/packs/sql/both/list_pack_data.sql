SELECT number, sha256, author, date_created FROM packs_data WHERE pack = :pack ORDER BY number DESC LIMIT :limit
