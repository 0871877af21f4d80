UPDATE packs_bundle
   SET outcome = :outcome, error = :error, date_settled = :now
 WHERE pack = :pack AND number = :number AND job_uid = :job_uid AND outcome IS NULL
RETURNING number
