SELECT digest FROM docs_webhook_delivery WHERE id = :id
