-- The tables of a schema, each with its columns that can be filled.
SELECT pg_class.relname::text, array_agg(pg_attribute.attname::text ORDER BY attnum)
  FROM pg_class
  JOIN pg_namespace ON pg_namespace.oid = pg_class.relnamespace AND pg_namespace.nspname = :schema
  JOIN pg_attribute ON pg_attribute.attrelid = pg_class.oid AND attnum > 0 AND NOT attisdropped AND attgenerated = ''
 WHERE pg_class.relkind IN ('r', 'p')
 GROUP BY pg_class.relname
