INSERT INTO docs_template (id, org, project, git_url, repository, git_ref, root_path, date_created, date_changed)
VALUES (:id, :org, :project, :git_url, :repository, :git_ref, :root_path, :now, :now)
