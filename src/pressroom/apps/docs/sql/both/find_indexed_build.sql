-- The newest other build of the project whose pages can be searched.
SELECT docs_build.uid
  FROM docs_build
  JOIN docs_search ON docs_search.build = docs_build.uid AND docs_search.state = 'complete'
 WHERE docs_build.project = :project AND docs_build.number IS NOT NULL AND docs_build.uid <> :build
 ORDER BY docs_build.number DESC
 LIMIT 1
