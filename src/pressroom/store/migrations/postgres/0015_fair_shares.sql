-- What is queued, by organisation: how much of the queue each of them fills is counted without reading the jobs of the others.
-- As before, the queued jobs of a key are found in their order.
DROP INDEX job_line;
CREATE INDEX job_line ON job (org_id, key, tier, seq) WHERE status = 'queued';

-- What is ready, by organisation: organisations take turns in a claim, and each is found by one look.
CREATE INDEX job_ready_of_org ON job (kind, tier, org_id COLLATE "C", seq) WHERE status = 'queued' AND waits_for IS NULL;

-- What runs, with all that a claim must know of it.
DROP INDEX job_running;
CREATE INDEX job_running ON job (id, org_id, kind) WHERE status = 'in_progress';
