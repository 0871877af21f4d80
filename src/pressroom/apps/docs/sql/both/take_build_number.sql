UPDATE docs_project SET last_number = last_number + 1 WHERE id = :id RETURNING last_number
