UPDATE docs_template SET sync_status = 'syncing', job_uid = :job_uid WHERE id = :id RETURNING id
