-- A repository was renamed; what it holds is the same.
UPDATE docs_template
   SET git_url = :git_url, repository = :repository, date_changed = :now
 WHERE repository = :old_repository
RETURNING id
