-- The artifact of a build is set once: another attempt finds it.
UPDATE docs_build
   SET artifact = :artifact, object_count = :object_count, total_size = :total_size, broken_links = :broken_links, problems = :problems
 WHERE uid = :uid AND artifact IS NULL
RETURNING uid
