-- Of these packs: how many documents of each are in which state, by its newest render.
SELECT packs_document.pack,
       CASE WHEN packs_render.outcome = 'ready' THEN 'ready'
            WHEN packs_render.outcome IS NOT NULL THEN 'failed'
            WHEN job.status = 'in_progress' THEN 'rendering'
            ELSE 'queued' END AS state,
       count(*)
  FROM json_array_elements_text(:packs::json) AS wanted (id)
  JOIN packs_document ON packs_document.pack = wanted.id
  JOIN packs_render ON packs_render.pack = packs_document.pack AND packs_render.doc_id = packs_document.doc_id
                   AND packs_render.number = packs_document.latest
  LEFT JOIN job ON job.uid = packs_render.job_uid AND packs_render.outcome IS NULL
 GROUP BY 1, 2
