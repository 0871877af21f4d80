INSERT INTO diagram (org_id, name, link, date_created) VALUES (:org_id, :name, :link, :now) ON CONFLICT DO NOTHING
