INSERT INTO artifact_hold (holder, artifact, date_created) VALUES (:holder, :artifact, :now) ON CONFLICT DO NOTHING
