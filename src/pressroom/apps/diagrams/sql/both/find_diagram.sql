SELECT id, org_id, name, link, date_created, sealed_link FROM diagram WHERE org_id = :org_id AND name = :name
