-- A build that still waits for its upload, by the capability in its address.
SELECT /* build_columns */
  FROM docs_build
 WHERE uid = :uid AND upload_digest = :digest AND status = 'pending' AND date_deleted IS NULL AND date_created > :after
