-- The parts of a job's last attempt by name: they stay when a later phase has begun.
SELECT name, state, error
  FROM job_item
 WHERE job_id = :job_id AND claim = :claim AND noun = :noun
 ORDER BY position
 LIMIT :limit
