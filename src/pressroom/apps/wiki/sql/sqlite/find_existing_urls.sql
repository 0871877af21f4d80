SELECT url FROM wiki_article WHERE org_id = :org_id AND url IN (SELECT value FROM json_each(:urls))
