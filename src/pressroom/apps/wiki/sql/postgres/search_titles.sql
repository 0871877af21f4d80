-- Articles whose titles have all words, the last of which may be a prefix; the shortest titles first. A common word is ranked for so many articles only.
WITH asked AS MATERIALIZED (
    SELECT to_tsquery('pg_catalog.simple', string_agg('''' || value || '''', ' & ') || ':*') AS words
      FROM json_array_elements_text(:words::json)
), candidates AS MATERIALIZED (
    SELECT wiki_article.id
      FROM asked, wiki_text JOIN wiki_article ON wiki_article.id = wiki_text.article
     WHERE org_id = :org_id AND title_index @@ asked.words
     LIMIT 1000
)
SELECT wiki_article.id, org_id, url, title, head, shown, date_created, date_changed
  FROM candidates
  JOIN wiki_article ON wiki_article.id = candidates.id
 ORDER BY length(title), wiki_article.id
 LIMIT :limit
