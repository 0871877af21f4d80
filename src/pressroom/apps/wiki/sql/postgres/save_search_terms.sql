-- Each is a list of article, title and words.
INSERT INTO wiki_text (article, title, words)
SELECT (value ->> 0)::bigint, value ->> 1, value ->> 2 FROM json_array_elements(:some::json)
ON CONFLICT (article) DO UPDATE SET title = excluded.title, words = excluded.words
