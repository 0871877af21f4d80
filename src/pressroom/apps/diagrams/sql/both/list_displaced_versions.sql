-- Versions whose job took over the text of a newer one before it began.
SELECT number, source, format, options, engine, status, error, job_uid, date_created, date_settled
  FROM diagram_version
 WHERE diagram = :diagram AND number < :number AND job_uid = :job_uid AND status = 'pending'
 ORDER BY number
