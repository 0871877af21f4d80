INSERT INTO artifact_store ("only", id, location, date_recorded) VALUES (1, :id, :location, :now)
ON CONFLICT ("only") DO UPDATE SET id = excluded.id, location = excluded.location, date_recorded = excluded.date_recorded
