-- Of artifacts that are gone, and of attempts that never came to settle. Those that were condemned before come again.
UPDATE blob_alias SET date_condemned = coalesce(date_condemned, :now)
 WHERE path IN (SELECT path FROM blob_alias WHERE artifact IS NULL AND date_reserved <= :before LIMIT :limit)
RETURNING path
