-- Files and bytes of all builds of a project, as they were uploaded.
SELECT coalesce(sum(object_count), 0), coalesce(sum(total_size), 0) FROM docs_build WHERE project = :project
