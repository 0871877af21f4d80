-- The dashboard of a project is kept by a hold of the project.
SELECT NULL, 'the dashboard ' || docs_project.dashboard || ' of the project ' || docs_project.id || ' is not held'
  FROM docs_project
 WHERE docs_project.dashboard IS NOT NULL
   AND NOT EXISTS (SELECT 1 FROM artifact_hold
                    WHERE artifact_hold.holder = 'docs:dashboard:' || docs_project.id AND artifact_hold.artifact = docs_project.dashboard)
