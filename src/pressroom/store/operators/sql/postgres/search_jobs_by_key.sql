-- As search_jobs.sql, for one key. It is compared together with the id: else PostgreSQL would go through all jobs, newest
-- first, if it thought that every third one has the key.
SELECT *
  FROM (SELECT id, 1
          FROM (SELECT id, status, kind, tier, org_id, subject, key, parent, worker, date_created
                  FROM job
                 WHERE (key, id) < (:key, :before) AND (key, id) >= (:key, :above) AND key IS NOT NULL
                 ORDER BY key DESC, id DESC
                 LIMIT :most) AS seen
         WHERE /* matches_filter */
         ORDER BY id DESC
         LIMIT :limit) AS matching
 UNION ALL
SELECT *
  FROM (SELECT id, 0
          FROM job
         WHERE (key, id) < (:key, :before) AND (key, id) >= (:key, :above) AND key IS NOT NULL
         ORDER BY key DESC, id DESC
         LIMIT 1 OFFSET :most) AS unseen
