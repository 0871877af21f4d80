-- The latest tick stays, so that a clock set back does not fire it again.
DELETE FROM schedule_tick
 WHERE tick < :before
   AND tick < (SELECT last_tick FROM schedule WHERE schedule.name = schedule_tick.schedule)
