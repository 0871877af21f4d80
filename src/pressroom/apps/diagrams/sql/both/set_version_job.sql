UPDATE diagram_version SET job_uid = :job_uid WHERE diagram = :diagram AND number = :number
