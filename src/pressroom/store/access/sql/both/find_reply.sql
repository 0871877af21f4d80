SELECT digest, status, headers, body FROM reply WHERE scope = :scope AND key = :key AND expires_at > :now
