INSERT INTO packs_pack (id, org_id, session_id, user_id, title, lang, data_version, date_created, date_changed)
VALUES (:id, :org_id, :session_id, :user_id, :title, :lang, 1, :now, :now)
