-- What the pages that count as current were made by.
SELECT DISTINCT renderer FROM wiki_revision WHERE render_status = 'rendered' AND renderer IS NOT NULL
