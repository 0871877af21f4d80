-- The token by which it was opened, and when it was last seen; nothing once its time is over.
SELECT token.uid, token.digest, token.prefix, token.name, token.scope, token.org_id, token.everywhere, token.date_created,
       token.expires_at, token.revoked_at, token.used_at, web_session.seen_at
  FROM web_session
  JOIN token ON token.uid = web_session.token
 WHERE web_session.digest = :digest AND web_session.expires_at > :now
