SELECT uid, process, kinds, slots, running, date_started, seen_at FROM worker ORDER BY date_started, uid
