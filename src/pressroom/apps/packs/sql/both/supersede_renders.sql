-- The queued job of these renders has taken the payload of a newer one.
UPDATE packs_render
   SET outcome = 'superseded', date_settled = :now
 WHERE job_uid = :job_uid AND outcome IS NULL AND number < :number
