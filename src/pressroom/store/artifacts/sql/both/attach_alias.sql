UPDATE blob_alias SET artifact = :artifact WHERE path = :path AND date_condemned IS NULL RETURNING path
