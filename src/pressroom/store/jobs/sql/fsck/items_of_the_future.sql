-- Items of an attempt that was never made.
SELECT DISTINCT uid, 'has items of claim ' || job_item.claim || '; its own is ' || job.claim
  FROM job
  JOIN job_item ON job_item.job_id = job.id AND job_item.claim > job.claim
