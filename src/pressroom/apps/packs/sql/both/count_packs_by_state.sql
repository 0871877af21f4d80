-- Of the newest packs, how many have a document in each state, by its newest render. A pack may count in several.
WITH newest AS MATERIALIZED (
    SELECT id FROM packs_pack WHERE org_id = :org_id AND date_deleted IS NULL ORDER BY id DESC LIMIT :limit
)
SELECT CASE WHEN packs_render.outcome = 'ready' THEN 'ready'
            WHEN packs_render.outcome IS NOT NULL THEN 'failed'
            WHEN job.status = 'in_progress' THEN 'rendering'
            ELSE 'queued' END AS state,
       count(DISTINCT newest.id), (SELECT count(*) FROM newest)
  FROM newest
  JOIN packs_document ON packs_document.pack = newest.id
  JOIN packs_render ON packs_render.pack = packs_document.pack AND packs_render.doc_id = packs_document.doc_id
                   AND packs_render.number = packs_document.latest
  LEFT JOIN job ON job.uid = packs_render.job_uid AND packs_render.outcome IS NULL
 GROUP BY 1
