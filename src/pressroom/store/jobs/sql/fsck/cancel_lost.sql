-- A cancel was accepted, and the job ended in another way.
SELECT uid, 'a cancel was accepted, but its status is ' || status
  FROM job
 WHERE cancel_requested = 1 AND status NOT IN ('queued', 'in_progress', 'cancelled')
