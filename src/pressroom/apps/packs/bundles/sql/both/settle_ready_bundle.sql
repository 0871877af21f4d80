UPDATE packs_bundle
   SET outcome = 'ready', artifact = :artifact, file_id = :file_id, pages = :pages, size = :size, sha256 = :sha256,
       versions = :versions, date_settled = :now
 WHERE pack = :pack AND number = :number AND job_uid = :job_uid AND outcome IS NULL
RETURNING number
