INSERT INTO job_event (job_id, at, type, data) VALUES (:id, :now, :type, :data)
