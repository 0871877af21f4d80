INSERT INTO toy_stamp (org_id, name, text, date_created)
VALUES (:org_id, :name, :text, :now)
ON CONFLICT (org_id, name) DO UPDATE SET text = excluded.text
