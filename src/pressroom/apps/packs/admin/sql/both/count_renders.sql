-- One row of figures about an organisation's packs. Each is read off an index of its own.
SELECT (SELECT count(*) FROM packs_pack WHERE org_id = :org_id AND date_deleted IS NULL) AS packs,
       (SELECT count(*) FROM packs_render WHERE org_id = :org_id AND outcome IS NULL) AS unsettled,
       (SELECT count(*)
          FROM packs_render
          JOIN job ON job.uid = packs_render.job_uid AND job.status = 'in_progress'
         WHERE packs_render.org_id = :org_id AND packs_render.outcome IS NULL) AS rendering,
       (SELECT min(date_created) FROM packs_render WHERE org_id = :org_id AND outcome IS NULL) AS oldest,
       (SELECT count(*)
          FROM packs_render
          JOIN packs_document ON packs_document.pack = packs_render.pack AND packs_document.doc_id = packs_render.doc_id
                             AND packs_document.latest = packs_render.number
          JOIN packs_pack ON packs_pack.id = packs_render.pack AND packs_pack.date_deleted IS NULL
         WHERE packs_render.org_id = :org_id AND packs_render.outcome IN ('failed', 'cancelled') AND packs_render.outcome = 'failed') AS failed,
       (SELECT count(*) FROM packs_render WHERE org_id = :org_id AND outcome IS NOT NULL AND date_settled >= :since AND outcome = 'ready') AS ready_lately,
       (SELECT count(*) FROM packs_render WHERE org_id = :org_id AND outcome IS NOT NULL AND date_settled >= :since AND outcome = 'failed') AS failed_lately,
       (SELECT count(*) FROM alert WHERE org_id = :org_id AND kind = 'packs.render' AND acked_at IS NULL) AS alerts
