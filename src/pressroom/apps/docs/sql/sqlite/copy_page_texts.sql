-- Of pages that two builds have in common.
INSERT INTO docs_page_text (build, path, heading, excerpt, title, words)
SELECT :build, path, heading, excerpt, title, words FROM docs_page_text
 WHERE build = :source AND path IN (SELECT value FROM json_each(:paths))
   AND EXISTS (SELECT 1 FROM docs_search WHERE build = :build AND attempt = :attempt AND state = 'indexing')
ON CONFLICT (build, path) DO NOTHING
RETURNING path
