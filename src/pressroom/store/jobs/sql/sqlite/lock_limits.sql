-- SQLite has one writer at a time: there is nothing to lock.
SELECT name FROM kind WHERE slots IS NOT NULL
