UPDATE packs_render
   SET outcome = 'ready', job_uid = :job_uid, job_id = :job_id, artifact = :artifact, file_id = :file_id, pages = :pages, size = :size,
       sha256 = :sha256, engines = :engines, error = NULL, date_settled = :now,
       attempts = coalesce((SELECT failures FROM job WHERE uid = :job_uid), attempts)
 WHERE pack = :pack AND doc_id = :doc_id AND number = :number AND outcome IS DISTINCT FROM 'ready'
RETURNING number
