INSERT INTO packs_text (pack, title, words) VALUES (:pack, :title, :words)
ON CONFLICT (pack) DO UPDATE SET title = excluded.title, words = excluded.words
