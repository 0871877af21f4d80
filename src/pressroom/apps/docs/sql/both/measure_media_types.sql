-- How many files of each media type an artifact has, and their bytes.
SELECT media_type, count(*), coalesce(sum(size), 0)
  FROM artifact_file
 WHERE artifact = :artifact
 GROUP BY media_type
 ORDER BY 3 DESC, media_type
