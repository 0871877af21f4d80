-- Jobs that may start and that oban does not know of: its job was pruned, discarded, handed to a node that is gone, or never
-- inserted. Each gets a new one. Looks at the next of each kind: what is forgotten is overtaken until it is among them. Ids may
-- begin anew when oban's table is emptied, so that only the uid tells whether an oban job is ours.
WITH looked AS (
    SELECT ready.*, true AS paged
      FROM unnest(%(kinds)s::text[], %(tiers)s::bigint[], %(seqs)s::bigint[]) AS wanted (kind, tier, seq)
     CROSS JOIN LATERAL (SELECT id, uid, kind, tier, seq, delivery_ref
                           FROM pressroom.job
                          WHERE job.kind = wanted.kind AND status = 'queued' AND waits_for IS NULL
                            AND (job.tier, job.seq) > (wanted.tier, wanted.seq)
                          ORDER BY tier, seq
                          LIMIT %(limit)s) AS ready
    UNION ALL
    -- Oban looks each second for those whose time has come.
    SELECT due.*, false
      FROM (SELECT id, uid, kind, tier, seq, delivery_ref
              FROM pressroom.job
             WHERE status = 'queued' AND waits_for = 'time'
               AND run_at < (extract(epoch FROM clock_timestamp()) * 1000)::bigint - 5000
             ORDER BY run_at
             LIMIT %(limit)s) AS due
     WHERE kind = ANY (%(kinds)s::text[])
), forgotten AS (
    SELECT looked.id, looked.delivery_ref
      FROM looked
      LEFT JOIN {schema}.oban_jobs AS known ON known.id = looked.delivery_ref::bigint AND known.args->>'uid' = looked.uid
     WHERE known.id IS NULL
        OR known.state = 'discarded'
        OR known.state = 'completed'
        OR (known.state = 'executing'
            AND NOT EXISTS (SELECT 1 FROM pressroom.worker WHERE worker.uid = known.attempted_by[1]))
), still AS (
    -- An array is looked up by index, whatever the planner expects. Who came first has given the job another number.
    SELECT job.id
      FROM pressroom.job
     WHERE job.id = ANY (ARRAY(SELECT id FROM forgotten)) AND coalesce(status, '') = 'queued'
       AND EXISTS (SELECT 1 FROM forgotten
                    WHERE forgotten.id = job.id AND forgotten.delivery_ref IS NOT DISTINCT FROM job.delivery_ref)
     ORDER BY job.id
       FOR NO KEY UPDATE OF job SKIP LOCKED
), numbered AS (
    UPDATE pressroom.job
       SET delivery_ref = nextval('{schema}.oban_jobs_id_seq')::text
      FROM still
     WHERE job.id = still.id
    RETURNING job.id, job.delivery_ref, job.uid, job.kind, job.tier, job.seq
), enlisted AS (
    INSERT INTO {schema}.oban_jobs (id, queue, worker, priority, args)
    OVERRIDING SYSTEM VALUE
    SELECT delivery_ref::bigint, pressroom.oban_queue(kind, tier), 'pressroom.delivery.oban.workers.Perform', tier,
           jsonb_build_object('uid', uid, 'tier', tier)
      FROM numbered
     ORDER BY tier, seq
)
SELECT looked.kind, max(looked.tier) FILTER (WHERE paged),
       (array_agg(looked.seq ORDER BY looked.tier DESC, looked.seq DESC) FILTER (WHERE paged))[1], count(numbered.id)
  FROM looked
  LEFT JOIN numbered ON numbered.id = looked.id
 GROUP BY looked.kind
