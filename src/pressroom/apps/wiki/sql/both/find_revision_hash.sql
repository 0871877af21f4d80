SELECT hash, title FROM wiki_revision WHERE article = :article AND number = :number
