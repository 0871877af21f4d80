-- Of a build whose links were not checked yet.
UPDATE docs_build SET broken_links = :broken_links, problems = :problems WHERE uid = :uid AND broken_links IS NULL
RETURNING uid
