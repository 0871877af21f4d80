SELECT refs, empty_answers FROM docs_repository WHERE git_url = :git_url
