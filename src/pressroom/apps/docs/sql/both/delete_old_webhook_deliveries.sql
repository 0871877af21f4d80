DELETE FROM docs_webhook_delivery WHERE date_received < :before
