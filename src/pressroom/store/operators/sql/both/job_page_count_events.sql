-- How many events of each type a job has, counted no further than :limit.
SELECT type, count(*)
  FROM (SELECT type FROM job_event WHERE job_id = :job_id ORDER BY id LIMIT :limit) AS counted
 GROUP BY type
