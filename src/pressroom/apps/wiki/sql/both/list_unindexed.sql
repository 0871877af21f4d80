-- Articles that search does not know yet, as they are in a database from before there was search.
SELECT wiki_article.id, wiki_article.title, wiki_source.source
  FROM wiki_article
  JOIN wiki_source ON wiki_source.article = wiki_article.id AND wiki_source.number = wiki_article.head
 WHERE NOT EXISTS (SELECT 1 FROM wiki_text WHERE wiki_text.article = wiki_article.id)
 ORDER BY wiki_article.id
 LIMIT :limit
