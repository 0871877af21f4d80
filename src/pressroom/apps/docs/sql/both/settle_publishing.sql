-- Moves of a job that ended before it had published them (D29).
UPDATE docs_edition
   SET publish_status = 'failed', publish_error = :error
 WHERE publish_status = 'publishing' AND (id, publish_seq) IN (
       SELECT edition, seq FROM docs_history WHERE job_uid = :job_uid AND publish_status = 'publishing')
