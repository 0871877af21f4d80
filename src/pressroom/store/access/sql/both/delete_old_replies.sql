DELETE FROM reply WHERE expires_at <= :now
