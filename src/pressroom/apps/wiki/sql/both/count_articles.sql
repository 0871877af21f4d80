SELECT count(*) FROM wiki_article WHERE org_id = :org_id
