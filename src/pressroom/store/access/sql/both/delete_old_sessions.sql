DELETE FROM web_session WHERE expires_at <= :now
