INSERT INTO docs_publish_lease (place, owner, wanted_seq, expires_at)
VALUES (:place, :owner, :seq, :expires_at)
ON CONFLICT (place) DO UPDATE
   SET owner = excluded.owner, wanted_seq = excluded.wanted_seq, expires_at = excluded.expires_at
 WHERE docs_publish_lease.expires_at <= :now
RETURNING owner
