-- How a webhook fares: its last delivery, and how many of the newest have failed.
SELECT state, date_created, (SELECT count(*)
                               FROM (SELECT state FROM webhook_delivery WHERE webhook = :webhook ORDER BY id DESC LIMIT :most) AS newest
                              WHERE state = 'failed')
  FROM webhook_delivery
 WHERE webhook = :webhook
 ORDER BY id DESC
 LIMIT 1
