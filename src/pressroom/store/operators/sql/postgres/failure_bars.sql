-- The groups :prints by the bar of the chart that their failures are in. Of each group the :most newest are looked at.
SELECT job_failure.print, (job.date_completed - :since) / :step AS bar, count(*), min(job_failure.job_id)
  FROM json_array_elements_text(:prints::json) AS named
  JOIN job_failure ON job_failure.print = named.value
   AND job_failure.job_id > coalesce((SELECT beyond.job_id
                                        FROM job_failure AS beyond
                                       WHERE beyond.print = named.value
                                       ORDER BY beyond.job_id DESC
                                       LIMIT 1 OFFSET :most), 0)
  JOIN job ON job.id = job_failure.job_id
 WHERE job.date_completed >= :since AND (:org_id IS NULL OR job.org_id = :org_id)
 GROUP BY job_failure.print, bar
