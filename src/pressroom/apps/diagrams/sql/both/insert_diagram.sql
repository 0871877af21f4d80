INSERT INTO diagram (org_id, name, link, sealed_link, date_created)
VALUES (:org_id, :name, :link, :sealed_link, :now) ON CONFLICT DO NOTHING
