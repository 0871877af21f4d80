-- Many jobs of one submit, each like insert_job.sql. :jobs is an array of arrays.
INSERT INTO job (id, uid, kind, tier, seq, run_at, status, waits_for, max_attempts, max_crashes, org_id,
                 project_id, build_id, subject, parent, trace, retention, on_key, key, date_created)
SELECT value->>0, value->>1, value->>2, value->>3, value->>0, value->>4, 'queued', value->>5, value->>6, value->>7, value->>8,
       value->>9, value->>10, value->>11, value->>12, value->>13, value->>14, value->>15, value->>16, :now
  FROM json_each(:jobs)
