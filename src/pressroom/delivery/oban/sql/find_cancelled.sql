-- Jobs that wait although their oban job was cancelled.
SELECT job.uid
  FROM {schema}.oban_jobs AS known
  JOIN pressroom.job ON job.uid = known.args->>'uid' AND job.delivery_ref = known.id::text
 WHERE known.state = 'cancelled' AND known.cancelled_at > timezone('UTC', now()) - make_interval(secs => %(age)s)
   AND known.worker = 'pressroom.delivery.oban.workers.Perform'
   AND job.status = 'queued' AND job.cancel_requested = 0
 LIMIT %(limit)s
