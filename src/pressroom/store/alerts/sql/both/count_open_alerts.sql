-- Of one organisation, or of all if NULL.
SELECT count(*) FROM alert WHERE acked_at IS NULL AND (:org_id IS NULL OR org_id = :org_id)
