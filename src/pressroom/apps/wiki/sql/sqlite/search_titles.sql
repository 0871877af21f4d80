-- Articles whose titles have all words, the last of which may be a prefix; the shortest titles first. A common word is ranked for so many articles only.
WITH candidates AS MATERIALIZED (
    SELECT wiki_article.id
      FROM wiki_index
      JOIN wiki_article ON wiki_article.id = wiki_index.rowid
     WHERE wiki_index MATCH (SELECT 'title : (' || group_concat('"' || value || '"', ' ') || '*)' FROM json_each(:words)) AND org_id = :org_id
     LIMIT 1000
)
SELECT wiki_article.id, org_id, url, title, head, shown, date_created, date_changed
  FROM candidates
  JOIN wiki_article ON wiki_article.id = candidates.id
 ORDER BY length(title), wiki_article.id
 LIMIT :limit
