-- More was done than there is.
SELECT uid, 'done ' || (progress->>'done') || ' of ' || (progress->>'total')
  FROM job
 WHERE CAST(progress->>'done' AS INTEGER) > CAST(progress->>'total' AS INTEGER)
