-- The schema that our triggers insert oban jobs into; no row without the triggers. Their own text says it, so that nothing else
-- can be out of date.
SELECT (regexp_match(prosrc, $$nextval\('([^.']+)\.oban_jobs_id_seq'$$))[1]
  FROM pg_proc
 WHERE oid = to_regprocedure('pressroom.oban_number()')
