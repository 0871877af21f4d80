UPDATE docs_publish_lease SET expires_at = :expires_at WHERE place = :place AND owner = :owner AND expires_at > :now RETURNING wanted_seq
