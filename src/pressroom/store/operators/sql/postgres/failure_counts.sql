-- How many failures each of the groups :prints has from job :above on, counted no further than :most.
SELECT named.value, (SELECT count(*)
                       FROM (SELECT job_id FROM job_failure WHERE print = named.value AND job_id >= :above LIMIT :most) AS seen)
  FROM json_array_elements_text(:prints::json) AS named
