UPDATE docs_edition
   SET date_deleted = NULL, date_changed = :now, publish_seq = publish_seq + 1,
       publish_status = CASE WHEN build IS NULL THEN NULL ELSE 'pending' END
 WHERE id = :id
RETURNING publish_seq
