-- A job that says which one took over, and yet did not make way.
SELECT uid, 'is superseded by job_' || superseded_by || ', but its status is ' || status
  FROM job
 WHERE superseded_by IS NOT NULL AND status <> 'cancelled'
