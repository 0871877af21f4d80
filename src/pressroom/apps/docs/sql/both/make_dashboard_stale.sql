-- So that it is rendered again, although nothing has changed.
UPDATE docs_project
   SET editions_version = editions_version + 1
 WHERE id = :id AND date_deleted IS NULL AND dashboard_version >= editions_version
