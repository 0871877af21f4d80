-- What a worker holds, as far as the database knows.
SELECT id, uid, kind, tier, seq, claim, version, failures, max_attempts, crashes, key, fingerprint, org_id, project_id, build_id,
       subject, parent, trace, ''
  FROM job
 WHERE status = 'in_progress' AND worker = :worker
