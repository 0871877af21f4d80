-- What the editions of a project show is published anew, or taken away: the project was restored or deleted.
UPDATE docs_edition
   SET publish_seq = publish_seq + 1, publish_status = :status, publish_error = NULL
 WHERE project = :project AND date_deleted IS NULL AND build IS NOT NULL
