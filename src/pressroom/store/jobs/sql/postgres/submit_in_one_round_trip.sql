-- What jobs.submit_plain does in several statements, in one: numbers, jobs, payloads and the first line of their history. It notifies
-- listeners, if there are jobs, and is committed with nothing else. :now is NULL where the database's clock counts.
WITH clock AS MATERIALIZED (
    SELECT coalesce(:now::bigint, (extract(epoch FROM clock_timestamp()) * 1000)::bigint) AS now
), numbers AS MATERIALIZED (
    SELECT reserve_numbers(:count) AS last
), new AS MATERIALIZED (
    SELECT last - :count + place AS id, place, now, greatest(now + (value->>4)::bigint, (value->>5)::bigint) AS run_at, value
      FROM jsonb_array_elements(:jobs::jsonb) WITH ORDINALITY AS given (value, place), clock, numbers
), jobs AS (
    INSERT INTO job (id, uid, kind, tier, seq, run_at, status, waits_for, max_attempts, max_crashes, org_id,
                     project_id, build_id, subject, parent, trace, retention, on_key, date_created)
    SELECT id, value->>1, value->>2, (value->>3)::bigint, id, run_at, 'queued', CASE WHEN run_at > now THEN 'time' END,
           (value->>6)::bigint, (value->>7)::bigint, value->>8, value->>9, value->>10, value->>11, value->>12, value->>13,
           (value->>14)::bigint, value->>15, now
      FROM new
), payloads AS (
    INSERT INTO job_payload (job_id, body)
    SELECT id, body FROM new JOIN json_array_elements_text(:payloads::json) WITH ORDINALITY AS given (body, place) USING (place)
), history AS (
    INSERT INTO job_event (job_id, at, type, data) SELECT id, now, 'queued', '{}' FROM new ORDER BY id
)
SELECT last, (SELECT pg_notify(:channel, '') FROM new LIMIT 1) IS NULL FROM numbers
