-- Whether a name cannot be used for a schema without quotes, which oban does not write.
SELECT EXISTS (SELECT 1 FROM pg_get_keywords() WHERE word = %(name)s AND catcode IN ('R', 'T'))
