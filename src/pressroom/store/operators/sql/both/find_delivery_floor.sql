-- Where a page stops looking for deliveries in one state: among very many others, those may be rare.
SELECT id FROM webhook_delivery WHERE webhook = :webhook AND id < :before ORDER BY id DESC LIMIT 1 OFFSET :most
