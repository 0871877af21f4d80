-- Jobs whose worker went silent past the lease, or is known to be dead.
SELECT id, claim, kind, worker, crashes
  FROM job
 WHERE status = 'in_progress' AND (lease_until <= :now OR worker IN (SELECT value FROM json_array_elements_text(:dead::json)))
 LIMIT 500
