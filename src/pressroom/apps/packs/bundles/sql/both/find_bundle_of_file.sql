SELECT packs_bundle.pack, packs_bundle.number, packs_bundle.job_uid, packs_bundle.job_id, packs_bundle.bundle_order, packs_bundle.requested_by,
       packs_bundle.outcome, packs_bundle.error, packs_bundle.artifact, packs_bundle.file_id, packs_bundle.pages, packs_bundle.size,
       packs_bundle.sha256, packs_bundle.versions, packs_bundle.date_created, packs_bundle.date_settled, job.status, job.last_error
  FROM packs_bundle
  LEFT JOIN job ON job.uid = packs_bundle.job_uid AND packs_bundle.outcome IS NULL
 WHERE packs_bundle.file_id = :file_id
