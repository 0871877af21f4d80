UPDATE job_payload SET body = :payload WHERE job_id = :id
