DELETE FROM job_input WHERE job_id = :id
