-- A dashboard template that is in use is kept by a hold of its binding.
SELECT NULL, 'the artifact ' || docs_template.artifact || ' of the template ' || docs_template.id || ' is not held'
  FROM docs_template
 WHERE docs_template.artifact IS NOT NULL
   AND NOT EXISTS (SELECT 1 FROM artifact_hold
                    WHERE artifact_hold.holder = 'docs:template:' || docs_template.id AND artifact_hold.artifact = docs_template.artifact)
