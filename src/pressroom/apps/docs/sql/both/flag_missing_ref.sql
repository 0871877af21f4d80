UPDATE docs_edition
   SET ref_missing_since = :now
 WHERE id = :id AND ref_missing_since IS NULL AND date_deleted IS NULL
RETURNING id
