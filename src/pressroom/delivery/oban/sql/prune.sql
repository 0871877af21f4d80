-- Only our own: whoever else uses these tables has a say in how long theirs are kept.
DELETE FROM {schema}.oban_jobs
 WHERE id IN (SELECT id
                FROM {schema}.oban_jobs
               WHERE (   (state = 'completed' AND completed_at <= timezone('UTC', now()) - make_interval(secs => %(age)s))
                      OR (state = 'cancelled' AND cancelled_at <= timezone('UTC', now()) - make_interval(secs => %(age)s))
                      OR (state = 'discarded' AND discarded_at <= timezone('UTC', now()) - make_interval(secs => %(age)s)))
                 AND worker IN ('pressroom.delivery.oban.workers.Perform', 'pressroom.delivery.oban.workers.Tick')
               LIMIT %(limit)s)
