INSERT INTO webhook_secret (webhook, secret, expires_at) VALUES (:webhook, :secret, NULL)
