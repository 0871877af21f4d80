INSERT INTO wiki_article (org_id, url, title, head, date_created, date_changed) VALUES (:org_id, :url, :title, 1, :now, :now)
RETURNING id, org_id, url, title, head, shown, date_created, date_changed
