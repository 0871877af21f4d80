-- All of them, not only those just condemned: the process that condemned the others may have died before it deleted the bytes.
SELECT sha256, generation FROM blob WHERE state = 'deleting' ORDER BY state_since LIMIT :limit
