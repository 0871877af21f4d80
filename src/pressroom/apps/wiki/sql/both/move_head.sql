-- Only from the revision that the author has read.
UPDATE wiki_article SET head = :number, title = :title, date_changed = :now WHERE id = :article AND head = :number - 1
RETURNING id, org_id, url, title, head, shown, date_created, date_changed
