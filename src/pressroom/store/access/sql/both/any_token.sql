SELECT EXISTS (SELECT 1 FROM token WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > :now))
