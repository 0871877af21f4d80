SELECT count(*) FROM docs_org WHERE (:only = '' OR slug = :only)
