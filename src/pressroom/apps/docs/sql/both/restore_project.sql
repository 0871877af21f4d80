UPDATE docs_project
   SET date_deleted = NULL, date_changed = :now, editions_version = editions_version + 1
 WHERE id = :id
