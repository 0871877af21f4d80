-- The newest secret becomes the one before it, for a while.
UPDATE webhook_secret SET expires_at = :expires_at WHERE webhook = :webhook AND expires_at IS NULL
