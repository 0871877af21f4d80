INSERT INTO job_input (job_id, fields, cache_for) VALUES (:id, :fields, :cache_for)
