-- Oban jobs in the hands of a node that is gone. What they carried was enlisted anew or has ended.
UPDATE {schema}.oban_jobs
   SET state = 'completed', completed_at = timezone('UTC', now())
 WHERE state = 'executing'
   AND worker IN ('pressroom.delivery.oban.workers.Perform', 'pressroom.delivery.oban.workers.Tick')
   AND attempted_at < timezone('UTC', now()) - interval '30 seconds'
   AND NOT EXISTS (SELECT 1 FROM pressroom.worker WHERE worker.uid = attempted_by[1])
