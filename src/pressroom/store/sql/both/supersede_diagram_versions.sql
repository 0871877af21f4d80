-- The job of these versions took over the text of a newer one before it began.
UPDATE diagram_version
   SET status = 'superseded', date_settled = :now
 WHERE diagram = :diagram AND number < :number AND job_uid = :job_uid AND status = 'pending'
