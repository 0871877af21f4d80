UPDATE docs_project SET git_url = :git_url, date_changed = :now WHERE id = :id AND git_url = :old_git_url
