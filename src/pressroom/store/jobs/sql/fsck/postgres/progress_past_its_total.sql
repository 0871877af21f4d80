-- More was done than there is.
--
-- A twin, because PostgreSQL looks into JSON only where the type says that it is some.
SELECT uid, 'done ' || (progress::json->>'done') || ' of ' || (progress::json->>'total')
  FROM job
 WHERE CAST(progress::json->>'done' AS BIGINT) > CAST(progress::json->>'total' AS BIGINT)
