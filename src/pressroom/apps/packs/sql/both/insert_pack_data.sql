INSERT INTO packs_data (pack, number, sha256, body, author, date_created) VALUES (:pack, :number, :sha256, :body, :author, :now)
