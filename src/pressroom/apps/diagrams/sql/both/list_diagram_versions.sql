-- Newest first.
SELECT number, source, format, options, engine, status, error, job_uid, date_created, date_settled
  FROM diagram_version
 WHERE diagram = :diagram AND number < :before
 ORDER BY number DESC
 LIMIT :limit
