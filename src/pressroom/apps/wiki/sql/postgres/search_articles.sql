-- Those that have all words, the last of which may be only begun. The best first: a word of the title counts ten times. A word that half of all articles have must not cost a look at each:
-- so many are ranked, those that have it in their titles before others.
WITH asked AS MATERIALIZED (
    SELECT to_tsquery('pg_catalog.simple', string_agg('''' || value || '''', ' & ') || ':*') AS words
      FROM json_array_elements_text(:words::json)
), candidates AS MATERIALIZED (
    (SELECT article, wiki_text.index
       FROM asked, wiki_text JOIN wiki_article ON wiki_article.id = wiki_text.article
      WHERE org_id = :org_id AND title_index @@ asked.words
      LIMIT 1000)
    UNION ALL
    (SELECT article, wiki_text.index
       FROM asked, wiki_text JOIN wiki_article ON wiki_article.id = wiki_text.article
      WHERE org_id = :org_id AND wiki_text.index @@ asked.words AND NOT title_index @@ asked.words
      LIMIT 2000)
), found AS MATERIALIZED (
    SELECT article AS id, -ts_rank('{0.1, 0.1, 0.1, 1.0}', candidates.index, asked.words, 1) AS place
      FROM asked, candidates
     ORDER BY place, article
     LIMIT :limit OFFSET :offset
)
SELECT wiki_article.id, org_id, url, wiki_article.title, head, shown, wiki_article.date_created, date_changed, source
  FROM found
  JOIN wiki_article ON wiki_article.id = found.id
  JOIN wiki_source ON wiki_source.article = wiki_article.id AND wiki_source.number = wiki_article.head
 ORDER BY place, found.id
