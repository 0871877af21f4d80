-- Only our own workers' rows: another application that uses these tables decides how long its own are kept.
DELETE FROM {schema}.oban_jobs
 WHERE id IN (SELECT id
                FROM {schema}.oban_jobs
               WHERE (   (state = 'completed' AND completed_at <= timezone('UTC', now()) - make_interval(secs => %(age)s))
                      OR (state = 'cancelled' AND cancelled_at <= timezone('UTC', now()) - make_interval(secs => %(age)s))
                      OR (state = 'discarded' AND discarded_at <= timezone('UTC', now()) - make_interval(secs => %(age)s)))
                 AND worker IN ('pressroom.delivery.oban.workers.Perform', 'pressroom.delivery.oban.workers.Tick')
               LIMIT %(limit)s)
