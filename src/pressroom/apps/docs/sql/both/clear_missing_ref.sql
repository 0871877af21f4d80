UPDATE docs_edition SET ref_missing_since = NULL WHERE id = :id AND ref_missing_since IS NOT NULL RETURNING id
