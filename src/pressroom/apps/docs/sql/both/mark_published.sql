-- A later move is not marked by an earlier one's end.
UPDATE docs_edition
   SET publish_status = :status, publish_error = :error,
       published_seq = CASE WHEN :status = 'published' THEN :seq ELSE published_seq END
 WHERE id = :id AND publish_seq = :seq
RETURNING id
