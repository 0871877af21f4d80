-- Pages that have all words, the last of which may be only begun. The best first: a word of the title counts ten times.
WITH asked AS MATERIALIZED (
    SELECT to_tsquery('pg_catalog.simple', string_agg('''' || value || '''', ' & ') || ':*') AS words
      FROM json_array_elements_text(:words::json)
), found AS MATERIALIZED (
    SELECT docs_page_text.id, -ts_rank('{0.1, 0.1, 0.1, 1.0}', docs_page_text.index, asked.words, 1) AS place
      FROM asked, docs_page_text
     WHERE docs_page_text.build = :build AND docs_page_text.index @@ asked.words
     ORDER BY place, docs_page_text.id
     LIMIT :limit
)
SELECT docs_page_text.path, docs_page_text.heading, docs_page_text.excerpt
  FROM found
  JOIN docs_page_text ON docs_page_text.id = found.id
 WHERE EXISTS (SELECT 1 FROM docs_search WHERE docs_search.build = :build AND docs_search.state = 'complete')
 ORDER BY place, found.id
