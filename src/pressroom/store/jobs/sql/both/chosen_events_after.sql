-- Events after one, up to another, of jobs of one organisation or kind, or with keys that begin alike; NULL chooses all.
SELECT job_event.id, job_event.job_id, job.uid, job_event.at, job_event.type, job_event.data
  FROM job_event
  JOIN job ON job.id = job_event.job_id
 WHERE job_event.id > :after AND job_event.id <= :last
   AND (:org_id IS NULL OR job.org_id = :org_id)
   AND (:kind IS NULL OR job.kind = :kind)
   AND (:key_prefix IS NULL OR substr(job.key, 1, length(:key_prefix)) = :key_prefix)
 ORDER BY job_event.id
