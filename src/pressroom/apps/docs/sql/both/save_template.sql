-- Only of the place that was read: the binding may have been changed meanwhile. Without an artifact the template is the same.
UPDATE docs_template
   SET commit_sha = :commit_sha, tree_sha = :tree_sha, artifact = coalesce(:artifact, artifact), sync_status = 'synced', sync_error = NULL,
       date_synced = :now
 WHERE id = :id AND git_url = :git_url AND git_ref = :git_ref AND root_path = :root_path
RETURNING id
