-- Jobs in progress, those that have run longest first. Reads job_running: however many have ended, they are not looked at.
--
-- The start and id of the last one is the cursor: what starts between two pages comes on a later one, and nothing is dropped.
SELECT id, uid, kind, tier, org_id, project_id, subject, key, worker, phase, progress, failures, cancel_requested, date_started
  FROM job
 WHERE status = 'in_progress' AND date_started < :started_before
   AND (date_started > :after_start OR (date_started = :after_start AND id > :after_id))
   AND (:org_id IS NULL OR org_id = :org_id) AND (:kind IS NULL OR kind = :kind)
   AND (:project_id IS NULL OR project_id = :project_id) AND (:phase IS NULL OR phase = :phase)
   AND (:has_items = 0 OR EXISTS (SELECT 1 FROM job_item AS item
                                   WHERE item.job_id = job.id AND item.claim = job.claim AND item.noun = job.phase
                                     AND (:item IS NULL OR (item.name = :item AND item.state = 'in_progress'))))
 ORDER BY date_started, id
 LIMIT :limit
