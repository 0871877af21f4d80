UPDATE docs_edition SET published_seq = :seq WHERE id = :id AND publish_seq = :seq AND date_deleted IS NOT NULL RETURNING id
