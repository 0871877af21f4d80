SELECT id, location FROM artifact_store WHERE "only" = 1
