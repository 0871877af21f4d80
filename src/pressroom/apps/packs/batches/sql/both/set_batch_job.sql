UPDATE packs_batch SET job_uid = :job_uid WHERE id = :id
