SELECT count(*), coalesce(sum(object_count), 0), coalesce(sum(total_size), 0)
  FROM docs_build
 WHERE project = :project AND artifact IS NOT NULL
