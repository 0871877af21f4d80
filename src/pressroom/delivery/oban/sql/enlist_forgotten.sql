-- Jobs that may start and that oban does not know of: its job was pruned, discarded, handed to a node that is gone, or never
-- inserted. Each gets a new one. Looks at the first of each kind: what is forgotten is overtaken until it is among them.
WITH first AS (
    SELECT ready.*
      FROM unnest(%(kinds)s::text[]) AS wanted (kind)
     CROSS JOIN LATERAL (SELECT id, uid, kind, tier, delivery_ref
                           FROM pressroom.job
                          WHERE job.kind = wanted.kind AND status = 'queued' AND waits_for IS NULL
                          ORDER BY tier, seq
                          LIMIT %(limit)s) AS ready
    UNION ALL
    SELECT due.*
      FROM (SELECT id, uid, kind, tier, delivery_ref
              FROM pressroom.job
             WHERE status = 'queued' AND waits_for = 'time' AND run_at < %(overdue)s
             ORDER BY run_at
             LIMIT %(limit)s) AS due
     WHERE kind = ANY (%(kinds)s::text[])
), forgotten AS (
    SELECT first.id
      FROM first
      LEFT JOIN public.oban_jobs AS known ON known.id = first.delivery_ref::bigint
     WHERE known.id IS NULL
        OR known.state = 'discarded'
        OR known.state = 'completed'
        OR (known.state = 'executing'
            AND NOT EXISTS (SELECT 1 FROM pressroom.worker WHERE worker.uid = known.attempted_by[1]))
), numbered AS (
    UPDATE pressroom.job
       SET delivery_ref = nextval('public.oban_jobs_id_seq')::text
      FROM (SELECT id FROM pressroom.job WHERE id IN (SELECT id FROM forgotten) AND status = 'queued'
             ORDER BY id FOR NO KEY UPDATE SKIP LOCKED) AS still
     WHERE job.id = still.id
    RETURNING job.delivery_ref, job.uid, job.kind, job.tier
)
SELECT pressroom.oban_enlist(delivery_ref::bigint, uid, kind, tier, NULL), uid FROM numbered
