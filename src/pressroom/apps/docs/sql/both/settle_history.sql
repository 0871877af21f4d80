UPDATE docs_history SET publish_status = 'failed', error = :error WHERE job_uid = :job_uid AND publish_status = 'publishing'
