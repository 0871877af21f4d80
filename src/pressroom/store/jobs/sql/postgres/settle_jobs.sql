-- Close attempts, each if its claim still owns the job. :settlements is an array of
-- [id, claim, status, run_at, seq, result, error, message, failures, superseded_by].
--
-- A worker that slept past its lease reports late, after the job went to someone else: naming the claim makes the late
-- one lose, and its row does not come back. A cancel that was accepted while the job ran has won: whatever the attempt
-- came to, the job is cancelled.
--
-- Rows are found by an array of their ids, and so locked in that order: two of these never wait for each other. It is jsonb
-- because its parts can be had without reading it again for each of them; more than 256 MB of it are refused.
WITH s AS MATERIALIZED (
    SELECT (value->>0)::bigint AS id, (value->>1)::bigint AS claim, value->>2 AS status, (value->>3)::bigint AS run_at,
           (value->>4)::bigint AS seq, value->>5 AS result, value->>6 AS error, value->>7 AS message,
           (value->>8)::bigint AS failures, value->>9 AS superseded_by
      FROM jsonb_array_elements(:settlements::jsonb)
     ORDER BY id
)
UPDATE job
   SET status = CASE WHEN cancel_requested = 1 THEN 'cancelled' ELSE s.status END,
       waits_for = CASE WHEN cancel_requested = 1 OR s.status <> 'queued' THEN NULL
                        WHEN s.run_at > :now THEN 'time'
                        WHEN key IS NOT NULL THEN 'key' END,
       run_at = coalesce(s.run_at, job.run_at),
       seq = coalesce(s.seq, job.seq),
       result = CASE WHEN cancel_requested = 1 THEN NULL ELSE s.result END,
       errors = CASE WHEN s.error IS NULL OR (cancel_requested = 1 AND s.superseded_by IS NOT NULL) THEN errors
                     ELSE coalesce(left(errors, -1) || ',', '[') || s.error || ']' END,
       last_error = CASE WHEN cancel_requested = 1 THEN last_error ELSE coalesce(s.message, last_error) END,
       failures = job.failures + s.failures,
       superseded_by = CASE WHEN cancel_requested = 0 THEN s.superseded_by END,
       lease_until = NULL,
       date_completed = CASE WHEN cancel_requested = 1 OR s.status <> 'queued' THEN :now END,
       prune_after = CASE WHEN cancel_requested = 1 OR s.status <> 'queued' THEN :now + retention END
  FROM s
 WHERE job.id = ANY (ARRAY(SELECT id FROM s)) AND job.id = s.id AND job.claim = s.claim AND job.status = 'in_progress'
RETURNING job.id, job.claim, job.status
