-- From marked to deleting, for what nothing refers to since the grace began. There is no way back from here.
UPDATE blob
   SET state = 'deleting', state_since = :now
 WHERE sha256 IN (SELECT sha256
                    FROM blob AS old
                   WHERE old.state = 'marked' AND old.state_since <= :before
                     AND NOT EXISTS (SELECT 1 FROM artifact WHERE artifact.sha256 = old.sha256)
                     AND NOT EXISTS (SELECT 1 FROM artifact_file WHERE artifact_file.sha256 = old.sha256)
                   ORDER BY old.state_since
                   LIMIT :limit)
RETURNING sha256
