-- Of these jobs the ones that may start, best first. Each is found by its name, as in claim_named.sql.
SELECT ready.uid, ready.kind
  FROM json_array_elements_text(:uids::json) AS named
 CROSS JOIN LATERAL (SELECT uid, kind, tier, seq
                       FROM job
                      WHERE job.uid = named.value AND status = 'queued' AND cancel_requested = 0
                        AND (waits_for IS NULL OR (waits_for = 'time' AND run_at <= :now AND key IS NULL))
                      LIMIT 1) AS ready
 GROUP BY ready.uid, ready.kind, ready.tier, ready.seq
 ORDER BY ready.tier, ready.seq
