-- A schedule whose expression changed starts counting anew: its old ticks say nothing about the new ones.
INSERT INTO schedule (name, cron, kind, payload, missed, key, last_tick)
VALUES (:name, :cron, :kind, :payload, :missed, :key, :now)
    ON CONFLICT (name) DO UPDATE
   SET kind = excluded.kind, payload = excluded.payload, missed = excluded.missed, key = excluded.key,
       last_tick = CASE WHEN schedule.cron = excluded.cron THEN schedule.last_tick ELSE excluded.last_tick END,
       cron = excluded.cron
