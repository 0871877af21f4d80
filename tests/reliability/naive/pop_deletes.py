"""Takes a job off the queue to run it, as BLPOP does: until it is settled, it exists only in the worker's memory.

The memory is a temporary table here, which is gone with its connection.
"""

UNGUARD = ["DROP TRIGGER job_is_born_queued", "DROP TRIGGER job_delete_only_ended"]


def spoil(statements: dict[str, str]) -> None:
    statements["claim_jobs"] = """
        CREATE TEMP TABLE IF NOT EXISTS popped AS SELECT * FROM job WHERE 0;
        CREATE TEMP TABLE IF NOT EXISTS popped_payload AS SELECT * FROM job_payload WHERE 0;
        INSERT INTO popped SELECT * FROM job
         WHERE id IN (SELECT value FROM json_each(:ids)) AND status = 'queued' AND waits_for IS NULL;
        INSERT INTO popped_payload SELECT * FROM job_payload WHERE job_id IN (SELECT value FROM json_each(:ids));
        UPDATE popped SET claim = claim + 1, worker = :worker, date_started = :now
         WHERE id IN (SELECT value FROM json_each(:ids));
        DELETE FROM job WHERE id IN (SELECT value FROM json_each(:ids));
        SELECT id, uid, kind, tier, seq, claim, version, failures, max_attempts, crashes, key, fingerprint, org_id,
               project_id, build_id, subject, parent, trace, (SELECT body FROM popped_payload WHERE job_id = id)
          FROM popped
         WHERE id IN (SELECT value FROM json_each(:ids))
    """
    statements["settle_jobs"] = """
        UPDATE popped
           SET status = s.status, result = s.result, failures = popped.failures + s.failures,
               date_completed = iif(s.status <> 'queued', :now, NULL),
               prune_after = iif(s.status <> 'queued', :now + retention, NULL)
          FROM (SELECT value->>0 AS id, value->>2 AS status, value->>5 AS result, value->>8 AS failures
                  FROM json_each(:settlements)) AS s
         WHERE popped.id = s.id;
        INSERT INTO job SELECT * FROM popped WHERE id IN (SELECT value->>0 FROM json_each(:settlements))
        RETURNING id, claim, status;
        INSERT INTO job_payload SELECT * FROM popped_payload
         WHERE job_id IN (SELECT value->>0 FROM json_each(:settlements));
        DELETE FROM popped WHERE id IN (SELECT value->>0 FROM json_each(:settlements));
        DELETE FROM popped_payload WHERE job_id IN (SELECT value->>0 FROM json_each(:settlements))
    """
