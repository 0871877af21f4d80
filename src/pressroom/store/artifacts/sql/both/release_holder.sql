DELETE FROM artifact_hold WHERE holder = :holder RETURNING artifact
