-- How many more jobs of each limited kind may be in progress, over all processes. Below zero if the limit came later.
SELECT kind.name, kind.slots - count(job.id)
  FROM kind
  LEFT JOIN job ON job.kind = kind.name AND job.status = 'in_progress'
 WHERE kind.slots IS NOT NULL
 GROUP BY kind.name, kind.slots
