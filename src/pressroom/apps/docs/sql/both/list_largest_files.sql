-- Files of an artifact, the largest first; with a text, those whose path has it.
SELECT path, size, media_type
  FROM artifact_file
 WHERE artifact = :artifact AND (:text = '' OR lower(path) LIKE :text ESCAPE '\')
 ORDER BY size DESC, path
 LIMIT :limit
