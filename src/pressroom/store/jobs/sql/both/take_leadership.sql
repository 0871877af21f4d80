-- Lead, or go on leading. One statement decides, so that of many who ask at once one gets a row back.
--
-- It may be taken if there never was a leader, if it is ours, if its lease ran out, or if its holder (:dead) was seen to have died. One
-- that lies further ahead than any lease does was made before the clock was set back, and is not waited for.
INSERT INTO leader (name, worker, process, term, until)
VALUES (:name, :worker, :process, 1, :now + :lease)
    ON CONFLICT (name) DO UPDATE
   SET term = leader.term + CASE WHEN leader.worker = excluded.worker AND leader.until > :now THEN 0 ELSE 1 END,
       worker = excluded.worker, process = excluded.process, until = excluded.until
 WHERE leader.worker = excluded.worker OR leader.worker = :dead OR leader.until <= :now OR leader.until > :now + 2 * :lease
RETURNING term
