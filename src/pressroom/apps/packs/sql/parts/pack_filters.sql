-- What is empty does not filter. Packs of a status are found by their newest renders.
(:user_id = '' OR packs_pack.user_id = :user_id)
       AND (:session_id = '' OR packs_pack.session_id = :session_id)
       AND (:status = '' OR EXISTS (
            SELECT 1
              FROM packs_document
              JOIN packs_render ON packs_render.pack = packs_document.pack AND packs_render.doc_id = packs_document.doc_id
                               AND packs_render.number = packs_document.latest
              LEFT JOIN job ON job.uid = packs_render.job_uid AND packs_render.outcome IS NULL
             WHERE packs_document.pack = packs_pack.id
               AND :status = CASE WHEN packs_render.outcome = 'ready' THEN 'ready'
                                  WHEN packs_render.outcome IS NOT NULL THEN 'failed'
                                  WHEN job.status = 'in_progress' THEN 'rendering'
                                  ELSE 'queued' END))
