UPDATE web_session SET seen_at = :now, expires_at = :expires_at WHERE digest = :digest
