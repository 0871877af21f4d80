SELECT name, cron, kind, payload, missed, key, last_tick FROM schedule ORDER BY name
