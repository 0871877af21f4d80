-- A claim that counts what is in progress of a limited kind keeps other claims from counting until it is committed.
SELECT name FROM kind WHERE slots IS NOT NULL ORDER BY name FOR NO KEY UPDATE
