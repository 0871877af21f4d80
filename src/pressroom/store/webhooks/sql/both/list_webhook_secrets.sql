-- Those to sign with, the newest first.
SELECT secret FROM webhook_secret
 WHERE webhook = :webhook AND (expires_at IS NULL OR expires_at > :now)
 ORDER BY expires_at IS NOT NULL
