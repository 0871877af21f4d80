SELECT refs, empty_answers, date_checked FROM docs_repository WHERE git_url = :git_url
