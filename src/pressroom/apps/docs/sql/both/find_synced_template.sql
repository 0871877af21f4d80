-- The project's own template goes before its organisation's. One that was never synchronised is passed over.
SELECT artifact
  FROM docs_template
 WHERE org = :org AND (project = :project OR project IS NULL) AND artifact IS NOT NULL
 ORDER BY CASE WHEN project IS NULL THEN 1 ELSE 0 END
 LIMIT 1
