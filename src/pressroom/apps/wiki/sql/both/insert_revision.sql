INSERT INTO wiki_revision (article, number, title, comment, author, length, hash, date_created, render_status)
VALUES (:article, :number, :title, :comment, :author, :length, :hash, :now, 'queued')
