SELECT max(seq) FROM docs_history WHERE edition = :edition AND job_uid = :job_uid HAVING max(seq) IS NOT NULL
