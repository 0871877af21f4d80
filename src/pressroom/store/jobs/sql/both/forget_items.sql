DELETE FROM job_item WHERE job_id = :id AND claim = :claim AND noun = :noun
