-- Those that have all words, the last of which may be only begun. The best first: a word of the title counts ten times. The texts are read of those that are shown, and of no others.
WITH found AS MATERIALIZED (
    SELECT wiki_index.rowid AS id, bm25(wiki_index, 10.0, 1.0) AS place
      FROM wiki_index
      JOIN wiki_article ON wiki_article.id = wiki_index.rowid
     WHERE wiki_index MATCH (SELECT group_concat('"' || value || '"', ' ') || '*' FROM json_each(:words)) AND org_id = :org_id
     ORDER BY place, wiki_index.rowid
     LIMIT :limit OFFSET :offset
)
SELECT wiki_article.id, org_id, url, wiki_article.title, head, shown, wiki_article.date_created, date_changed, source
  FROM found
  JOIN wiki_article ON wiki_article.id = found.id
  JOIN wiki_source ON wiki_source.article = wiki_article.id AND wiki_source.number = wiki_article.head
 ORDER BY place, found.id
