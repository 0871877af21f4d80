-- claim_next.sql with the history of what it finds and a word to those who listen, committed with nothing else. Its text takes the
-- place of the name below, with its :now as the clock here says: NULL where the database's own is the one that counts.
WITH clock AS MATERIALIZED (
    SELECT coalesce(:now::bigint, (extract(epoch FROM clock_timestamp()) * 1000)::bigint) AS now
), claimed AS (
    /* claim_next */
), history AS (
    INSERT INTO job_event (job_id, at, type, data)
    SELECT id, now, 'started', json_build_object('attempt', failures + 1, 'worker', :worker)::text
      FROM claimed, clock
     ORDER BY id
), told AS MATERIALIZED (
    SELECT pg_notify(:channel, '') FROM claimed LIMIT 1
)
SELECT claimed.* FROM claimed, told
