-- Which jobs match, newest first. The :most newest are looked at and no others, so that a rare one costs no more than that.
-- A row with 0 is the first that was not looked at.
SELECT *
  FROM (SELECT id, 1
          FROM (SELECT id, status, kind, tier, org_id, subject, key, parent, worker, date_created
                  FROM job
                 WHERE id < :before AND id >= :above
                 ORDER BY id DESC
                 LIMIT :most) AS seen
         WHERE /* matches_filter */
         ORDER BY id DESC
         LIMIT :limit) AS matching
 UNION ALL
SELECT *
  FROM (SELECT id, 0
          FROM job
         WHERE id < :before AND id >= :above
         ORDER BY id DESC
         LIMIT 1 OFFSET :most) AS unseen
