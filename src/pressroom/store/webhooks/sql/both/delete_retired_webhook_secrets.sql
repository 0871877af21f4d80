DELETE FROM webhook_secret WHERE webhook = :webhook AND expires_at IS NOT NULL
