SELECT coalesce(max(id), 0) FROM wiki_article WHERE org_id = :org_id
