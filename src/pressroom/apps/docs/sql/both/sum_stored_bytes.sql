-- Equal files are stored once, in however many builds they are.
SELECT coalesce(sum(stored.size), 0)
  FROM (SELECT DISTINCT artifact_file.sha256, artifact_file.size
          FROM docs_build
          JOIN artifact_file ON artifact_file.artifact = docs_build.artifact
         WHERE docs_build.project = :project) AS stored
