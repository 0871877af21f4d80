-- Schedules with their latest tick and what became of its job. Ticks are kept for a day: one without may have run before.
SELECT schedule.name, schedule.cron, schedule.kind, schedule.missed, schedule.key, schedule.last_tick,
       latest.tick, latest.job, job.status, coalesce(kind.paused, 0)
  FROM schedule
  LEFT JOIN schedule_tick AS latest
    ON latest.schedule = schedule.name
   AND latest.tick = (SELECT max(tick) FROM schedule_tick WHERE schedule_tick.schedule = schedule.name)
  LEFT JOIN job ON job.uid = latest.job
  LEFT JOIN kind ON kind.name = schedule.kind
 ORDER BY schedule.name
 LIMIT :most
