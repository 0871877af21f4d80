SELECT uid, host, pid, version, delivery, kinds, slots, running, stopping, lease, date_started, seen_at,
       EXISTS (SELECT 1 FROM leader WHERE leader.worker = uid AND leader.until > :now)
  FROM worker
 ORDER BY date_started, uid
