-- Another submit joined this job: it runs at the better of both tiers.
UPDATE job SET tier = :tier
 WHERE id = :id AND tier > :tier AND status IN ('queued', 'in_progress')
