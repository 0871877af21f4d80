-- Whether jobs of more than one organisation are queued: two looks into job_line.
SELECT (SELECT min(org_id) FROM job WHERE status = 'queued') <> (SELECT max(org_id) FROM job WHERE status = 'queued')
