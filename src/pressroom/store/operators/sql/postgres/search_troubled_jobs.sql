-- As search_jobs_by_key.sql, for one way of going wrong.
SELECT *
  FROM (SELECT id, 1
          FROM (SELECT id, status, kind, tier, org_id, subject, key, parent, worker, date_created
                  FROM job
                 WHERE (status, id) < (:status, :before) AND (status, id) >= (:status, :above)
                   AND status IN ('failed', 'completed_with_errors', 'cancelled')
                 ORDER BY status DESC, id DESC
                 LIMIT :most) AS seen
         WHERE /* matches_filter */
         ORDER BY id DESC
         LIMIT :limit) AS matching
 UNION ALL
SELECT *
  FROM (SELECT id, 0
          FROM job
         WHERE (status, id) < (:status, :before) AND (status, id) >= (:status, :above)
           AND status IN ('failed', 'completed_with_errors', 'cancelled')
         ORDER BY status DESC, id DESC
         LIMIT 1 OFFSET :most) AS unseen
