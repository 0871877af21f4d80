SELECT article, number, title, comment, author, source, hash, html, headings, error, renderer, job_uid, date_created,
       date_rendered, render_status
  FROM wiki_revision
  JOIN wiki_source USING (article, number)
  LEFT JOIN wiki_html USING (article, number)
 WHERE article = :article AND number = :number
