-- What was synchronised before stays.
UPDATE docs_template SET sync_status = 'failed', sync_error = :error WHERE id = :id AND job_uid = :job_uid AND sync_status = 'syncing'
