UPDATE docs_edition SET published_seq = :seq WHERE id = :id AND publish_seq = :seq RETURNING id
