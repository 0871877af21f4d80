INSERT INTO artifact_store ("only", id, location, date_recorded) VALUES (1, :id, :location, :now)
ON CONFLICT ("only") DO NOTHING
