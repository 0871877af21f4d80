-- Those whose newest revision is to be rendered again, by their ids, a page of them. In this order, whatever the planner thinks.
SELECT wiki_article.id, org_id, url, wiki_article.title, head, shown, wiki_article.date_created, date_changed
  FROM wiki_revision
 CROSS JOIN wiki_article ON wiki_article.id = wiki_revision.article AND wiki_article.head = wiki_revision.number
 WHERE render_status = 'stale' AND wiki_revision.article > :after AND org_id = :org_id
 ORDER BY wiki_revision.article
 LIMIT :limit
