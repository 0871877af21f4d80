-- What is queued, by organisation: how much of the queue each of them fills is counted without reading the jobs of the others.
-- As before, the queued jobs of a key are found in their order.
DROP INDEX job_line;
CREATE INDEX job_line ON job (org_id, key, tier, seq) WHERE status = 'queued';
