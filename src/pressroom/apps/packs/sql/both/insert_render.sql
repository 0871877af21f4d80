INSERT INTO packs_render (pack, doc_id, number, job_uid, job_id, session_id, data_version, config, entry_sha256, snapshot, requested_by, max_attempts, date_created)
VALUES (:pack, :doc_id, :number, :job_uid, :job_id, :session_id, :data_version, :config, :entry_sha256, :snapshot, :requested_by, :max_attempts, :now)
