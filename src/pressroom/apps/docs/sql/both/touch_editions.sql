-- What the dashboard shows has changed.
UPDATE docs_project SET editions_version = editions_version + 1 WHERE id = :id RETURNING editions_version
