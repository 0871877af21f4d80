-- Of each document that was ever requested: the newest render, and the newest that is ready (R36, D21).
SELECT packs_render.pack, packs_render.doc_id, packs_render.number, packs_render.job_uid, packs_render.job_id, packs_render.session_id,
       packs_render.data_version, packs_render.config, packs_render.entry_sha256, packs_render.snapshot, packs_render.requested_by, packs_render.outcome,
       packs_render.attempts, packs_render.max_attempts, packs_render.error, packs_render.artifact, packs_render.file_id,
       packs_render.pages, packs_render.size, packs_render.sha256, packs_render.engines, packs_render.date_created,
       packs_render.date_settled, job.status, job.failures, job.last_error, job.run_at, job.phase
  FROM packs_document
  JOIN packs_render ON packs_render.pack = packs_document.pack AND packs_render.doc_id = packs_document.doc_id
                   AND packs_render.number IN (packs_document.latest, packs_document.good)
  LEFT JOIN job ON job.uid = packs_render.job_uid AND packs_render.outcome IS NULL
 WHERE packs_document.pack = :pack
