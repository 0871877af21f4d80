DELETE FROM blob_alias WHERE path = :path AND date_condemned IS NOT NULL
