-- The columns of oban's tables as they are. The catalogue shows them to every role; information_schema only to those with rights.
SELECT class.relname, attribute.attname
  FROM pg_class AS class
  JOIN pg_namespace AS namespace ON namespace.oid = class.relnamespace
  JOIN pg_attribute AS attribute ON attribute.attrelid = class.oid AND attribute.attnum > 0 AND NOT attribute.attisdropped
 WHERE namespace.nspname = %(schema)s AND class.relkind IN ('r', 'p')
   AND class.relname IN ('oban_jobs', 'oban_leaders', 'oban_producers')
