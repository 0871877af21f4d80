SELECT uid, host FROM worker WHERE uid = :name OR (:hosts = 1 AND host = :name) ORDER BY uid LIMIT :limit
