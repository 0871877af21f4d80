-- Articles with the source of their newest revision, a page of them.
SELECT wiki_article.id, org_id, url, wiki_article.title, head, shown, wiki_article.date_created, date_changed, source
  FROM wiki_article
  JOIN wiki_source ON wiki_source.article = wiki_article.id AND wiki_source.number = wiki_article.head
 WHERE org_id = :org_id AND wiki_article.id > :after
 ORDER BY wiki_article.id
 LIMIT :limit
