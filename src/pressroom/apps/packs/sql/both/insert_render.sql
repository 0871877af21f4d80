INSERT INTO packs_render (pack, doc_id, number, job_uid, job_id, session_id, data_version, config, entry_sha256, snapshot, requested_by, max_attempts, date_created, retry_of, org_id)
VALUES (:pack, :doc_id, :number, :job_uid, :job_id, :session_id, :data_version, :config, :entry_sha256, :snapshot, :requested_by, :max_attempts, :now, :retry_of,
        (SELECT org_id FROM packs_pack WHERE id = :pack))
