SELECT id, org_id, url, title, head, shown, date_created, date_changed
  FROM wiki_article
 WHERE org_id = :org_id AND url IN (SELECT value FROM json_each(:urls))
