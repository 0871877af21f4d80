-- Of these blobs, those that nothing refers to any more. From now on their grace runs.
UPDATE blob
   SET state = 'marked', state_since = :now
 WHERE sha256 IN (SELECT value FROM json_each(:blobs)) AND state = 'live'
   AND NOT EXISTS (SELECT 1 FROM artifact WHERE artifact.sha256 = blob.sha256)
   AND NOT EXISTS (SELECT 1 FROM artifact_file WHERE artifact_file.sha256 = blob.sha256)
RETURNING sha256
