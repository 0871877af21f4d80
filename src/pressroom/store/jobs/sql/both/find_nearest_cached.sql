-- Recent entries of the same kind, to say which input kept them from being the answer.
SELECT fields
  FROM render_cache
 WHERE org_id = :org_id AND kind = :kind AND expires_at > :now
 ORDER BY date_created DESC
 LIMIT 20
