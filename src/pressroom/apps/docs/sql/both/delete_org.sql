DELETE FROM docs_org WHERE slug = :slug
