DELETE FROM packs_bundle
 WHERE pack = :pack AND (job_uid = :job_uid OR (outcome IS NOT NULL AND outcome <> 'ready'))
