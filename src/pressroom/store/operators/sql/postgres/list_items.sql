-- The items of some jobs' current attempts: how many are in each state, with the first :names of them.
SELECT job_id, noun, state, name, error, total
  FROM (SELECT item.job_id, item.noun, item.state, item.name, item.error,
               count(*) OVER (PARTITION BY item.job_id, item.noun, item.state) AS total,
               row_number() OVER (PARTITION BY item.job_id, item.noun, item.state ORDER BY item.position) AS place
          FROM job
         CROSS JOIN job_item AS item
         WHERE item.job_id = job.id AND item.claim = job.claim AND job.id IN (SELECT value::bigint FROM json_array_elements_text(:ids::json))) AS told
 WHERE place <= :names
 ORDER BY job_id, noun, state, place
