DELETE FROM docs_publish_lease WHERE place = :place AND owner = :owner
