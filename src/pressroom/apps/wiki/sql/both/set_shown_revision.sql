-- An older revision that was rendered late never takes the place of a newer one.
UPDATE wiki_article SET shown = :number WHERE id = :article AND (shown IS NULL OR shown < :number)
