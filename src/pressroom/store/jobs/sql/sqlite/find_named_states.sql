SELECT uid, status, waits_for, run_at FROM job WHERE uid IN (SELECT value FROM json_each(:uids))
