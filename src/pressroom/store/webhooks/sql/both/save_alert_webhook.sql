-- The webhook that the settings declare. Where it is already, it is enabled for what they name now.
INSERT INTO webhook (uid, org_id, url, events, date_created) VALUES (:uid, :org_id, :url, :events, :now)
    ON CONFLICT (uid) DO UPDATE SET url = excluded.url, disabled_because = NULL
