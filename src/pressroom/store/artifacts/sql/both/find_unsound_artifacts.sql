-- What the guards of the database should have made impossible.
SELECT 'dangling_link', short_link.link, 'names artifact ' || short_link.artifact || ', which is gone'
  FROM short_link LEFT JOIN artifact ON artifact.uid = short_link.artifact
 WHERE artifact.uid IS NULL
UNION ALL
SELECT 'dangling_hold', artifact_hold.holder, 'holds artifact ' || artifact_hold.artifact || ', which is gone'
  FROM artifact_hold LEFT JOIN artifact ON artifact.uid = artifact_hold.artifact
 WHERE artifact.uid IS NULL
UNION ALL
SELECT 'dangling_cache', render_cache.fingerprint, 'answers with artifact ' || render_cache.artifact || ', which is gone'
  FROM render_cache LEFT JOIN artifact ON artifact.uid = render_cache.artifact
 WHERE render_cache.artifact IS NOT NULL AND artifact.uid IS NULL
UNION ALL
SELECT 'apart_from_its_cache', artifact.uid, 'its cache entry expires at another time'
  FROM render_cache JOIN artifact ON artifact.uid = render_cache.artifact
 WHERE artifact.expires_at IS NULL OR artifact.expires_at <> render_cache.expires_at
UNION ALL
SELECT 'unkept', artifact.uid, 'refers to blob ' || artifact.sha256 || ', which is ' || coalesce(blob.state, 'gone')
  FROM artifact LEFT JOIN blob ON blob.sha256 = artifact.sha256
 WHERE artifact.sha256 IS NOT NULL AND (blob.state IS NULL OR blob.state <> 'live')
UNION ALL
SELECT 'unkept', artifact_file.artifact, artifact_file.path || ' refers to a blob that is ' || coalesce(blob.state, 'gone')
  FROM artifact_file LEFT JOIN blob ON blob.sha256 = artifact_file.sha256
 WHERE blob.state IS NULL OR blob.state <> 'live'
UNION ALL
SELECT 'unreferred', blob.sha256, 'is live, but nothing refers to it'
  FROM blob
 WHERE blob.state = 'live'
   AND NOT EXISTS (SELECT 1 FROM artifact WHERE artifact.sha256 = blob.sha256)
   AND NOT EXISTS (SELECT 1 FROM artifact_file WHERE artifact_file.sha256 = blob.sha256)
UNION ALL
SELECT 'size', artifact.uid, 'has ' || artifact.size || ' bytes, its blob ' || blob.size
  FROM artifact JOIN blob ON blob.sha256 = artifact.sha256
 WHERE blob.size <> artifact.size
UNION ALL
-- One that is recorded in pieces has no job and no holder, and expires, until it has all its files. It never has more.
SELECT 'files', uid, 'should have ' || files || ' files'
  FROM (SELECT artifact.*, (SELECT count(*) FROM artifact_file WHERE artifact_file.artifact = artifact.uid) AS recorded
          FROM artifact) AS counted
 WHERE recorded > files
    OR (recorded < files
        AND (job_uid IS NOT NULL OR expires_at IS NULL
             OR EXISTS (SELECT 1 FROM artifact_hold WHERE artifact_hold.artifact = counted.uid)))
