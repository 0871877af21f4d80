-- As search_jobs.sql, for one organisation that has a name.
SELECT *
  FROM (SELECT id, 1
          FROM (SELECT id, status, kind, tier, org_id, subject, key, parent, worker, date_created
                  FROM job
                 WHERE org_id = :org_id AND org_id <> '' AND id < :before AND id >= :above
                 ORDER BY id DESC
                 LIMIT :most) AS seen
         WHERE /* matches_filter */
         ORDER BY id DESC
         LIMIT :limit) AS matching
 UNION ALL
SELECT *
  FROM (SELECT id, 0
          FROM job
         WHERE org_id = :org_id AND org_id <> '' AND id < :before AND id >= :above
         ORDER BY id DESC
         LIMIT 1 OFFSET :most) AS unseen
