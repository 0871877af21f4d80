INSERT INTO worker (uid, process, kinds, slots, running, date_started, seen_at)
VALUES (:uid, :process, :kinds, :slots, :running, :now, :now)
    ON CONFLICT (uid) DO UPDATE SET running = excluded.running, seen_at = excluded.seen_at
