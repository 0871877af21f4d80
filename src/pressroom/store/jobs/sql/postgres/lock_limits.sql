-- Whoever counts what is in progress of a limited kind lets nobody else count until its claims are committed.
SELECT name FROM kind WHERE slots IS NOT NULL ORDER BY name FOR NO KEY UPDATE
