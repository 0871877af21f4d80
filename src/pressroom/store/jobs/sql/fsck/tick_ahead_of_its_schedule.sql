-- A tick that was fired but may be fired again.
SELECT schedule_tick.job, 'schedule ' || schedule || ' fired a tick past its last one'
  FROM schedule_tick
  JOIN schedule ON schedule.name = schedule_tick.schedule
 WHERE schedule_tick.tick > schedule.last_tick
