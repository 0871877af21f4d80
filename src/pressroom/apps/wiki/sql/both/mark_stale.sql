-- Some pages that were made by this renderer. Their HTML stays until there is another.
UPDATE wiki_revision
   SET render_status = 'stale'
 WHERE (article, number) IN (
       SELECT article, number FROM wiki_revision WHERE render_status = 'rendered' AND renderer = :renderer LIMIT :limit)
RETURNING 1
