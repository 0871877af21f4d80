-- Some of a build, as long as this attempt is the last one.
DELETE FROM docs_page_text
 WHERE id IN (
       SELECT docs_page_text.id
         FROM docs_page_text
         JOIN docs_search ON docs_search.build = docs_page_text.build
        WHERE docs_page_text.build = :build AND docs_search.attempt = :attempt AND docs_search.state <> 'complete'
        LIMIT :limit)
RETURNING id
