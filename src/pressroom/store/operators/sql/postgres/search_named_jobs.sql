-- As search_jobs.sql, for jobs by their names. They are few: all are looked at.
SELECT id, 1
  FROM (SELECT id, status, kind, tier, org_id, subject, key, parent, worker, date_created
          FROM job
         WHERE uid = ANY (ARRAY(SELECT json_array_elements_text(:uids::json))) AND id < :before AND id >= :above) AS seen
 WHERE /* matches_filter */
 ORDER BY id DESC
 LIMIT :limit
