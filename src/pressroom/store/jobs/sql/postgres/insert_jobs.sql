-- Many jobs of one submit, each like insert_job.sql. :jobs is an array of arrays.
INSERT INTO job (id, uid, kind, tier, seq, run_at, status, waits_for, max_attempts, max_crashes, org_id,
                 project_id, build_id, subject, parent, trace, retention, on_key, key, date_created)
SELECT (value->>0)::bigint, value->>1, value->>2, (value->>3)::bigint, (value->>0)::bigint, (value->>4)::bigint, 'queued',
       value->>5, (value->>6)::bigint, (value->>7)::bigint, value->>8, value->>9, value->>10, value->>11, value->>12,
       value->>13, (value->>14)::bigint, value->>15, value->>16, :now
  FROM jsonb_array_elements(:jobs::jsonb)
