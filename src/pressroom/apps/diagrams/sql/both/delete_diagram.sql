DELETE FROM diagram WHERE id = :id
