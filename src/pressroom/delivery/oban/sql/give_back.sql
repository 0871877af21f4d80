-- Oban jobs that a node was given and does not have: the answer to its fetch was lost, or it had to begin anew. Oban itself
-- knows only how old an attempt is, and a job may take its time.
UPDATE {schema}.oban_jobs
   SET state = 'available', attempt = greatest(attempt - 1, 0)
 WHERE state = 'executing'
   AND worker IN ('pressroom.delivery.oban.workers.Perform', 'pressroom.delivery.oban.workers.Tick')
   AND attempted_by[1] = %(node)s AND attempted_at < timezone('UTC', now()) - interval '10 seconds'
   AND id <> ALL (%(held)s::bigint[])
RETURNING id
