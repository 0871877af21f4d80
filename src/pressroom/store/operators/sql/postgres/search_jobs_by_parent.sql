-- As search_jobs_by_key.sql, for the children of one job.
SELECT *
  FROM (SELECT id, 1
          FROM (SELECT id, status, kind, tier, org_id, subject, key, parent, worker, date_created
                  FROM job
                 WHERE (parent, id) < (:parent, :before) AND (parent, id) >= (:parent, :above) AND parent IS NOT NULL
                 ORDER BY parent DESC, id DESC
                 LIMIT :most) AS seen
         WHERE /* matches_filter */
         ORDER BY id DESC
         LIMIT :limit) AS matching
 UNION ALL
SELECT *
  FROM (SELECT id, 0
          FROM job
         WHERE (parent, id) < (:parent, :before) AND (parent, id) >= (:parent, :above) AND parent IS NOT NULL
         ORDER BY parent DESC, id DESC
         LIMIT 1 OFFSET :most) AS unseen
