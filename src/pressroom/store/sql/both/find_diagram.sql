SELECT id, org_id, name, link, date_created FROM diagram WHERE org_id = :org_id AND name = :name
