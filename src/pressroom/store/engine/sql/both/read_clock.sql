-- The database's clock, the only one that leases, delays and retention know.
SELECT now_ms()
