DELETE FROM artifact_hold WHERE holder = :holder AND artifact = :artifact RETURNING artifact
