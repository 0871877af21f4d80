-- The newest payload takes the queued job's place: seq stays, the better tier and the earlier time win.
--
-- Failures start again from zero, because they were another payload's. The WHERE repeats that it is still queued: a job
-- that was claimed meanwhile is no target, and the submit makes a successor instead.
UPDATE job
   SET version = version + 1, tier = CASE WHEN :tier < tier THEN :tier ELSE tier END,
       run_at = CASE WHEN :run_at < run_at THEN :run_at ELSE run_at END, failures = 0,
       waits_for = CASE WHEN waits_for = 'time' AND :run_at <= :now THEN 'key' ELSE waits_for END,
       fingerprint = :fingerprint, subject = coalesce(:subject, subject), trace = coalesce(:trace, trace)
 WHERE id = :id AND status = 'queued'
RETURNING version
