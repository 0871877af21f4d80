-- The HTML of this very revision, and of no other.
INSERT INTO wiki_html (article, number, html, headings) VALUES (:article, :number, :html, :headings)
ON CONFLICT (article, number) DO UPDATE SET html = excluded.html, headings = excluded.headings
