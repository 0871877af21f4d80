INSERT INTO webhook (uid, org_id, url, events, kinds, date_created) VALUES (:uid, :org_id, :url, :events, :kinds, :now)
