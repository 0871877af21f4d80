-- Nobody else writes meanwhile: there is nothing to lock.
SELECT name FROM kind WHERE slots IS NOT NULL
