SELECT sha256 FROM artifact WHERE uid IN (SELECT value FROM json_each(:uids)) AND sha256 IS NOT NULL
UNION
SELECT sha256 FROM artifact_file WHERE artifact IN (SELECT value FROM json_each(:uids))
