INSERT INTO wiki_source (article, number, source) VALUES (:article, :number, :source)
