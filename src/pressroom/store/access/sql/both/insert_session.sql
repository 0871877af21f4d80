INSERT INTO web_session (digest, token, date_created, seen_at, expires_at) VALUES (:digest, :token, :now, :now, :expires_at)
