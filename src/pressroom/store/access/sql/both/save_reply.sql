INSERT INTO reply (scope, key, digest, status, headers, body, expires_at)
VALUES (:scope, :key, :digest, :status, :headers, :body, :expires_at)
    ON CONFLICT DO NOTHING
