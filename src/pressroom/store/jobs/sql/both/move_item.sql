-- Move one item, once, and only for the worker that holds the job. Finishers may race: each moves its own row.
UPDATE job_item SET state = :state, error = :error
 WHERE job_id = :id AND claim = :claim AND noun = :noun AND name = :name AND state = 'in_progress'
   AND EXISTS (SELECT 1 FROM job WHERE job.id = :id AND job.claim = :claim AND job.status = 'in_progress')
RETURNING name
