-- A job that was tried more often than its kind allows.
SELECT uid, failures || ' failures of ' || max_attempts || ' attempts, ' || crashes || ' crashes of ' || max_crashes
  FROM job
 WHERE failures > max_attempts OR crashes > max_crashes
