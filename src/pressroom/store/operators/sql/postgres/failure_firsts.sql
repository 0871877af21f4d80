-- The first failure of each of the groups :prints, if it is among the :most oldest of its group: others may own those before.
SELECT named.value,
       (SELECT oldest.job_id
          FROM (SELECT job_id FROM job_failure WHERE print = named.value ORDER BY job_id LIMIT :most) AS oldest
          JOIN job ON job.id = oldest.job_id
         WHERE :org_id IS NULL OR job.org_id = :org_id
         ORDER BY oldest.job_id
         LIMIT 1)
  FROM json_array_elements_text(:prints::json) AS named
