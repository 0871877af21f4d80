-- The organisations that have an article to be rendered again.
SELECT DISTINCT org_id
  FROM wiki_revision
  JOIN wiki_article ON wiki_article.id = wiki_revision.article AND wiki_article.head = wiki_revision.number
 WHERE render_status = 'stale'
