-- How long the latest completed jobs of a kind ran, in milliseconds.
SELECT date_completed - date_started
  FROM job
 WHERE date_completed IS NOT NULL AND kind = :kind AND status = 'completed' AND date_started IS NOT NULL
 ORDER BY date_completed DESC
 LIMIT :limit
