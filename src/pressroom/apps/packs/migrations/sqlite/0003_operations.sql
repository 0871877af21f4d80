-- Renders of an organisation, newest first: what its operators list, count and request again.
ALTER TABLE packs_render ADD COLUMN org_id TEXT NOT NULL DEFAULT '';
ALTER TABLE packs_render ADD COLUMN retry_of TEXT;  -- the job id of the failed render that this one was requested in place of
UPDATE packs_render SET org_id = (SELECT org_id FROM packs_pack WHERE id = packs_render.pack);
CREATE INDEX packs_render_org ON packs_render (org_id, job_uid);
CREATE INDEX packs_render_failed ON packs_render (org_id, job_uid) WHERE outcome IN ('failed', 'cancelled');
CREATE INDEX packs_render_unsettled ON packs_render (org_id, job_uid) WHERE outcome IS NULL;
CREATE INDEX packs_render_settled ON packs_render (org_id, date_settled) WHERE outcome IS NOT NULL;
