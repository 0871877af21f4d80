INSERT INTO job_payload (job_id, body) VALUES (:id, :payload)
