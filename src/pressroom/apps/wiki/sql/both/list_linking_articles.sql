-- Articles that refer to this one, a page of them.
SELECT wiki_article.id, org_id, wiki_article.url, title, head, shown, date_created, date_changed
  FROM wiki_link
  JOIN wiki_article ON wiki_article.id = wiki_link.article
 WHERE wiki_link.url = :url AND org_id = :org_id AND wiki_link.article > :after
 ORDER BY wiki_link.article
 LIMIT :limit
