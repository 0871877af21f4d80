SELECT generation, state, size FROM blob WHERE sha256 = :sha256
