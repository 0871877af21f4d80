INSERT INTO webhook_delivery (webhook, type, facts, date_created) VALUES (:webhook, :type, :facts, :now) RETURNING uid
