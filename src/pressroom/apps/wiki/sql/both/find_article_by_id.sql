SELECT id, org_id, url, title, head, shown, date_created, date_changed FROM wiki_article WHERE id = :id
