INSERT INTO short_link (link, artifact, org_id, date_created) VALUES (:link, :artifact, :org_id, :now)
