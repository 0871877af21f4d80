SELECT name, cron, kind, payload, missed, key FROM schedule WHERE name = :name
