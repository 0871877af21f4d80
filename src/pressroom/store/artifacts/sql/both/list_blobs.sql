SELECT sha256, generation, size, state FROM blob WHERE sha256 > :after ORDER BY sha256 LIMIT :limit
