-- Bound to another place: what was synchronised stays in use until that is. Nothing is known of the new place yet.
UPDATE docs_template
   SET git_url = :git_url, repository = :repository, git_ref = :git_ref, root_path = :root_path, commit_sha = NULL, tree_sha = NULL,
       sync_status = 'pending', sync_error = NULL, date_changed = :now
 WHERE id = :id
