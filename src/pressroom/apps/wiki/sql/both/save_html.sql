-- The HTML of this very revision, and of no other. Most pages come out as they were: those are not written again.
INSERT INTO wiki_html (article, number, html, headings) VALUES (:article, :number, :html, :headings)
ON CONFLICT (article, number) DO UPDATE SET html = excluded.html, headings = excluded.headings
 WHERE wiki_html.html <> excluded.html OR wiki_html.headings <> excluded.headings
