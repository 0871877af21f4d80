-- What an attempt came to, unless another job has taken over.
UPDATE webhook_delivery SET status = :status, response = :response, error = :error WHERE uid = :uid AND job = :job
