UPDATE packs_render
   SET outcome = :outcome, error = :error, date_settled = :now,
       attempts = coalesce((SELECT failures FROM job WHERE uid = :job_uid), attempts)
 WHERE pack = :pack AND doc_id = :doc_id AND number = :number AND job_uid = :job_uid AND outcome IS NULL
RETURNING number
