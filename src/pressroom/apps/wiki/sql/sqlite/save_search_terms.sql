-- Each is a list of article, title and words. One statement for all: the index writes what it has gathered to its tables whenever
-- another statement with triggers or RETURNING begins, which for one article at a time took longer than all the rest of an import.
INSERT INTO wiki_text (article, title, words)
SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(:some) WHERE true
ON CONFLICT (article) DO UPDATE SET title = excluded.title, words = excluded.words
