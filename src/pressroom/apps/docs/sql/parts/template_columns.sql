docs_template.id, docs_template.org, docs_template.project, docs_template.git_url, docs_template.git_ref, docs_template.root_path,
       docs_template.commit_sha, docs_template.tree_sha, docs_template.artifact, docs_template.sync_status, docs_template.sync_error,
       docs_template.job_uid, docs_template.date_created, docs_template.date_changed, docs_template.date_synced
