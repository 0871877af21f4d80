-- For whoever shows the picture and has no token.
SELECT id, org_id, name, link, date_created FROM diagram WHERE name = :name AND link = :link
