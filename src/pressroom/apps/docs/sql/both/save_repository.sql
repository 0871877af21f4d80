INSERT INTO docs_repository (git_url, refs, empty_answers, date_checked)
VALUES (:git_url, :refs, :empty_answers, :now)
ON CONFLICT (git_url) DO UPDATE SET refs = :refs, empty_answers = :empty_answers, date_checked = :now
