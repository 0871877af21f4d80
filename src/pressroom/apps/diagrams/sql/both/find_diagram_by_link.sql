-- For requests with an embed key instead of a token. A hash that was read from the database is not the key.
SELECT id, org_id, name, link, date_created, sealed_link FROM diagram
 WHERE name = :name AND ((link = :link AND sealed_link IS NULL) OR (link = :digest AND sealed_link IS NOT NULL))
