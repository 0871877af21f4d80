-- What is outside follows: the sequence grows, so that a late publish of an older move is refused there.
UPDATE docs_edition
   SET date_deleted = :now, date_changed = :now, publish_seq = publish_seq + 1
 WHERE id = :id AND date_deleted IS NULL
RETURNING publish_seq
