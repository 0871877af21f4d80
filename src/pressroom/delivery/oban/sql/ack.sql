-- Oban's own ack, for many at once. Each names when it was handed out: a late one changes nothing.
UPDATE {schema}.oban_jobs AS job
   SET state = acked.state::{schema}.oban_job_state,
       cancelled_at = CASE WHEN acked.state = 'cancelled' THEN timezone('UTC', now()) ELSE job.cancelled_at END,
       completed_at = CASE WHEN acked.state = 'completed' THEN timezone('UTC', now()) ELSE job.completed_at END,
       discarded_at = CASE WHEN acked.state = 'discarded' THEN timezone('UTC', now()) ELSE job.discarded_at END,
       scheduled_at = coalesce(timezone('UTC', now()) + make_interval(secs => acked.wait), job.scheduled_at),
       attempt = job.attempt + coalesce(acked.change, 0),
       errors = CASE WHEN acked.error IS NULL THEN job.errors ELSE job.errors || acked.error::jsonb END,
       meta = CASE WHEN acked.meta IS NULL THEN job.meta ELSE job.meta || acked.meta::jsonb END
  FROM unnest(%(ids)s::bigint[], %(handed_out)s::timestamp[], %(states)s::text[], %(waits)s::float8[], %(changes)s::int[],
              %(errors)s::text[], %(metas)s::text[]) AS acked (id, handed_out, state, wait, change, error, meta)
 WHERE job.id = acked.id AND job.state = 'executing' AND job.attempted_at = acked.handed_out
RETURNING job.id
