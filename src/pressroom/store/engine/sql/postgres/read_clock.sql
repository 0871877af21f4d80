-- The database's clock, the only one that leases, delays and retention know.
SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint
