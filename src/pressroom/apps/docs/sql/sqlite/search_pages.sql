-- Pages that have all words, the last of which may be only begun. The best first: a word of the title counts ten times. The build
-- is a word of the index too, so that the words of other builds are not looked at. The texts are read of those that are shown.
WITH found AS MATERIALIZED (
    SELECT docs_page_index.rowid AS id, bm25(docs_page_index, 0.0, 10.0, 1.0) AS place
      FROM docs_page_index
     WHERE docs_page_index MATCH (
               SELECT 'build : "' || :build || '" AND {title words} : (' || group_concat('"' || value || '"', ' AND ') || '*)'
                 FROM json_each(:words))
     ORDER BY place, docs_page_index.rowid
     LIMIT :limit
)
SELECT docs_page_text.path, docs_page_text.heading, docs_page_text.excerpt
  FROM found
  JOIN docs_page_text ON docs_page_text.id = found.id
 WHERE EXISTS (SELECT 1 FROM docs_search WHERE docs_search.build = :build AND docs_search.state = 'complete')
 ORDER BY place, found.id
