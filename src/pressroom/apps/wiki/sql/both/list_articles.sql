-- By their ids, a page of them.
SELECT id, org_id, url, title, head, shown, date_created, date_changed
  FROM wiki_article
 WHERE org_id = :org_id AND id > :after
 ORDER BY id
 LIMIT :limit
