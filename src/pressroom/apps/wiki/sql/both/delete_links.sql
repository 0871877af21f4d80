DELETE FROM wiki_link WHERE article = :article
