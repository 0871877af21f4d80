SELECT name FROM diagram WHERE link = :link AND org_id = :org_id
