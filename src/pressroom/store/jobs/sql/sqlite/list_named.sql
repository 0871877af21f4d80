-- Of these jobs the ones that may start, best first.
SELECT uid, kind
  FROM job
 WHERE uid IN (SELECT value FROM json_each(:uids)) AND status = 'queued' AND cancel_requested = 0
   AND (waits_for IS NULL OR (waits_for = 'time' AND run_at <= :now AND key IS NULL))
 ORDER BY tier, seq
