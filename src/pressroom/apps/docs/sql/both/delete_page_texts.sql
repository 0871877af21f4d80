-- Some of a build, as long as this attempt is the last one: one, and more until there are so many characters.
DELETE FROM docs_page_text
 WHERE id IN (
       SELECT id
         FROM (
              SELECT id, sum(length(words)) OVER (ORDER BY id) - length(words) AS characters_before
                FROM (
                     SELECT docs_page_text.id, docs_page_text.words
                       FROM docs_page_text
                       JOIN docs_search ON docs_search.build = docs_page_text.build
                      WHERE docs_page_text.build = :build AND docs_search.attempt = :attempt AND docs_search.state <> 'complete'
                      LIMIT :limit) AS first_pages) AS counted
        WHERE characters_before < :characters)
RETURNING id
