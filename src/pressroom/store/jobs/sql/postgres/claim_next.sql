-- What jobs.claim does on SQLite in several statements, in one: find the best that are ready, kind by kind, as many as there is
-- room for, and take them under a lease. Paused kinds and those with a limit are left alone, and so is what another worker is
-- taking. Organisations take turns, as find_ready.sql and fairness.py say.
--
-- The rows are found again by an array of their ids: as a join, a plan made while the table was small reads all of it later.
WITH RECURSIVE wanted AS (
    SELECT value AS kind, tier, room
      FROM json_array_elements_text(:kinds::json)
     CROSS JOIN (VALUES (0, :total::bigint), (1, :background::bigint)) AS tiers (tier, room)
     WHERE room > 0
       AND NOT EXISTS (SELECT 1 FROM kind WHERE kind.name = value AND (kind.paused = 1 OR kind.slots IS NOT NULL))
       AND (SELECT seq FROM job
             WHERE job.kind = value AND job.tier = tiers.tier AND status = 'queued' AND waits_for IS NULL
             ORDER BY seq LIMIT 1) IS NOT NULL  -- in an order, because it is then read from an index
), running AS MATERIALIZED (
    SELECT org_id, count(*) AS count
      FROM job
     WHERE status = 'in_progress' AND kind = ANY (ARRAY(SELECT json_array_elements_text(:kinds::json)))
     GROUP BY org_id
), line (kind, tier, room, org_id, round, running, idle) AS (
    SELECT kind, tier, room, :after::text COLLATE "C", 0, NULL::bigint, 0 FROM wanted
    UNION ALL
    SELECT line.kind, line.tier, line.room, next.org_id, next.round, next.running,
           line.idle + CASE WHEN next.running = 0 THEN 1 ELSE 0 END
      FROM line
     CROSS JOIN LATERAL (SELECT found.org_id, CASE WHEN found.org_id <= :after COLLATE "C" THEN 1 ELSE 0 END AS round,
                                coalesce((SELECT running.count FROM running WHERE running.org_id = found.org_id), 0) AS running
                           FROM (SELECT CASE line.round
                                        WHEN 0 THEN coalesce((SELECT min(job.org_id COLLATE "C") FROM job
                                                               WHERE job.kind = line.kind AND job.tier = line.tier AND status = 'queued' AND waits_for IS NULL
                                                                 AND job.org_id COLLATE "C" > line.org_id),
                                                             (SELECT min(job.org_id COLLATE "C") FROM job
                                                               WHERE job.kind = line.kind AND job.tier = line.tier AND status = 'queued' AND waits_for IS NULL
                                                                 AND job.org_id COLLATE "C" <= :after))
                                        ELSE (SELECT min(job.org_id COLLATE "C") FROM job
                                               WHERE job.kind = line.kind AND job.tier = line.tier AND status = 'queued' AND waits_for IS NULL
                                                 AND job.org_id COLLATE "C" > line.org_id
                                                 AND job.org_id COLLATE "C" <= :after) END AS org_id OFFSET 0) AS found
                          WHERE found.org_id IS NOT NULL) AS next
     WHERE line.idle < line.room
), turns AS (
    SELECT kind, tier, org_id, round, running,
           CASE WHEN max(idle) OVER (PARTITION BY kind, tier) < room THEN room WHEN running = 0 THEN 1 ELSE 0 END AS jobs
      FROM line
     WHERE running IS NOT NULL
), found AS (
    SELECT ready.id, turns.tier, ready.seq, turns.org_id, turns.round, turns.running
      FROM turns
     CROSS JOIN LATERAL (SELECT job.id, job.seq
                           FROM job
                          WHERE job.kind = turns.kind AND job.tier = turns.tier AND status = 'queued' AND waits_for IS NULL
                            AND job.org_id COLLATE "C" = turns.org_id
                          ORDER BY job.seq
                          LIMIT turns.jobs
                            FOR NO KEY UPDATE SKIP LOCKED) AS ready
), ranked AS (
    SELECT id, tier, org_id, round, running + row_number() OVER (PARTITION BY tier, org_id ORDER BY seq) AS would_run FROM found
), placed AS (
    SELECT *, row_number() OVER (PARTITION BY tier ORDER BY would_run, round, org_id) AS place FROM ranked
), chosen AS (
    SELECT id FROM placed WHERE tier = 0 OR place <= :background ORDER BY tier, place LIMIT :total
)
UPDATE job
   SET status = 'in_progress', claim = claim + 1, worker = :worker, lease = :lease, lease_until = :now + :lease,
       date_started = :now, phase = NULL, progress = NULL
 WHERE job.id = ANY (ARRAY(SELECT id FROM chosen)) AND cancel_requested = 0
RETURNING id, uid, kind, tier, seq, claim, version, failures, max_attempts, crashes, key, fingerprint, org_id,
          project_id, build_id, subject, parent, trace,
          (SELECT body FROM job_payload WHERE job_payload.job_id = job.id)
