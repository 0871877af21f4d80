INSERT INTO packs_bundle (pack, number, job_uid, job_id, bundle_order, requested_by, date_created)
VALUES (:pack, :number, :job_uid, :job_id, :bundle_order, :requested_by, :now)
