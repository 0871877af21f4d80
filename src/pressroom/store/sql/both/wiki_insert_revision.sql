INSERT INTO wiki_revision (article, number, title, comment, author, source, hash, date_created, render_status)
VALUES (:article, :number, :title, :comment, :author, :source, :hash, :now, :render_status)
