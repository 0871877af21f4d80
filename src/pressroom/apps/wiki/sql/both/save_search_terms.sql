INSERT INTO wiki_text (article, title, words) VALUES (:article, :title, :words)
ON CONFLICT (article) DO UPDATE SET title = excluded.title, words = excluded.words
