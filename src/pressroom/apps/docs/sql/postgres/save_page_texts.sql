-- Each is a list of path, heading, excerpt, title and words.
INSERT INTO docs_page_text (build, path, heading, excerpt, title, words)
SELECT :build, value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4 FROM json_array_elements(:pages::json)
 WHERE EXISTS (SELECT 1 FROM docs_search WHERE build = :build AND attempt = :attempt AND state = 'indexing')
ON CONFLICT (build, path) DO NOTHING
