-- The first acknowledgement stays.
UPDATE alert SET acked_by = :by, acked_at = :now WHERE id = :id AND acked_at IS NULL RETURNING id
