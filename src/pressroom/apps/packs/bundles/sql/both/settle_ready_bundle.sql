UPDATE packs_bundle
   SET outcome = 'ready', job_uid = :job_uid, job_id = :job_id, artifact = :artifact, file_id = :file_id, pages = :pages, size = :size,
       sha256 = :sha256, versions = :versions, error = NULL, date_settled = :now
 WHERE pack = :pack AND number = :number AND outcome IS DISTINCT FROM 'ready'
RETURNING number
