-- What a render reads of a revision: without its HTML, which is long.
SELECT org_id, url, source
  FROM wiki_article
  JOIN wiki_source ON wiki_source.article = wiki_article.id
 WHERE wiki_article.id = :article AND number = :number
