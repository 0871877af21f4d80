-- Every table that numbers its rows, with the sequence that does.
SELECT pg_class.relname::text, pg_get_serial_sequence(pg_class.oid::regclass::text, attname)
  FROM pg_class
  JOIN pg_attribute ON pg_attribute.attrelid = pg_class.oid AND attidentity <> ''
 WHERE pg_class.relnamespace = current_schema()::regnamespace
