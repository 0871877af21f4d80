-- As desk_find_artifact.sql. The same bytes may be the output of very many jobs, of others too: those that are looked at are
-- counted.
SELECT uid, name, media_type, job_uid, (SELECT min(link) FROM short_link WHERE short_link.artifact = known.uid)
  FROM (SELECT uid, name, media_type, job_uid, org_id FROM artifact WHERE sha256 = :sha256 LIMIT :most) AS known
 WHERE :org_id IS NULL OR org_id = :org_id
 ORDER BY uid DESC
 LIMIT :limit
