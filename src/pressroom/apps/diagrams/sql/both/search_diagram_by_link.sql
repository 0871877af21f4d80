SELECT name FROM diagram
 WHERE org_id = :org_id AND ((link = :link AND sealed_link IS NULL) OR (link = :digest AND sealed_link IS NOT NULL))
