-- All of them, not only those just condemned: whoever condemned the others may have died before the bytes were deleted.
SELECT sha256, generation FROM blob WHERE state = 'deleting' ORDER BY state_since LIMIT :limit
