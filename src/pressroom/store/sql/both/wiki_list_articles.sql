-- Whose head is to be rendered again, a page of them: all of an organisation, or those whose head is stale.
SELECT wiki_article.id, org_id, url, wiki_article.title, head, shown, wiki_article.date_created, date_changed
  FROM wiki_article
  JOIN wiki_revision ON wiki_revision.article = wiki_article.id AND wiki_revision.number = wiki_article.head
 WHERE org_id = :org_id AND wiki_article.id > :after AND (:status IS NULL OR render_status = :status)
 ORDER BY wiki_article.id
 LIMIT :limit
