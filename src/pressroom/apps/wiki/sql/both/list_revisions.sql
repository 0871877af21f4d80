SELECT number, title, comment, author, length, render_status, date_created
  FROM wiki_revision
 WHERE article = :article AND number < :before
 ORDER BY number DESC
 LIMIT :limit
