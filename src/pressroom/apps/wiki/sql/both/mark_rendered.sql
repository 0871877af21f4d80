UPDATE wiki_revision
   SET error = NULL, renderer = :renderer, render_status = 'rendered', date_rendered = :now
 WHERE article = :article AND number = :number
