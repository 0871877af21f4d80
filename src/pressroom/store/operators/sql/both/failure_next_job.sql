-- The first job from :id on, and when it was submitted.
SELECT id, date_created FROM job WHERE id >= :id ORDER BY id LIMIT 1
