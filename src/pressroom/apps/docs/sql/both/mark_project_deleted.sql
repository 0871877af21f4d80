UPDATE docs_project SET date_deleted = :now, date_changed = :now WHERE id = :id AND date_deleted IS NULL
