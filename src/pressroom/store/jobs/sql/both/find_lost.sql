-- A claim that was found lost, looked at again before it is taken away: its worker may have shown life since.
SELECT org_id, key, crashes, max_crashes, cancel_requested, last_error
  FROM job
 WHERE id = :id AND claim = :claim AND status = 'in_progress' AND (lease_until <= :now OR :dead = 1)
