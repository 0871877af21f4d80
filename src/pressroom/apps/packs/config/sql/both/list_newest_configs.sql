-- The newest version of each key. There are tens of keys, and few have many versions.
SELECT key, number, status, sha256, problems, comment, author, date_created, date_published
  FROM packs_config AS newest
 WHERE org_id = :org_id
   AND number = (SELECT max(number) FROM packs_config WHERE org_id = :org_id AND key = newest.key)
 ORDER BY key
