INSERT INTO worker (uid, process, host, pid, version, delivery, kinds, slots, lease, running, stopping, date_started, seen_at)
VALUES (:uid, :process, :host, :pid, :version, :delivery, :kinds, :slots, :lease, :running, :stopping, :now, :now)
    ON CONFLICT (uid) DO UPDATE SET running = excluded.running, stopping = excluded.stopping, seen_at = excluded.seen_at
