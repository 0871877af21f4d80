-- The HTML of this very revision, and of no other.
UPDATE wiki_revision
   SET html = :html, headings = :headings, error = NULL, renderer = :renderer, render_status = 'rendered', date_rendered = :now
 WHERE article = :article AND number = :number
RETURNING number
