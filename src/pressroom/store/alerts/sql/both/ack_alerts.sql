-- All that are open, of one organisation or of all if NULL, and of one kind. Not those that failed again after :until, if it is given: the
-- person who acknowledges them has not seen that.
UPDATE alert
   SET acked_by = :by, acked_at = :now
 WHERE acked_at IS NULL AND (:until IS NULL OR last_at <= :until)
   AND (:org_id IS NULL OR org_id = :org_id)
   AND (:kind IS NULL OR kind = :kind)
RETURNING id
