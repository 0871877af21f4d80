SELECT path, size FROM blob_alias WHERE artifact IS NOT NULL AND path > :after ORDER BY path LIMIT :limit
