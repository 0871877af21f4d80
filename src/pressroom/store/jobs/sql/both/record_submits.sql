-- The first line in the history of jobs that were just inserted with consecutive numbers.
INSERT INTO job_event (job_id, at, type, data)
SELECT id, :now, 'queued', '{}' FROM job WHERE id BETWEEN :first AND :last ORDER BY id
