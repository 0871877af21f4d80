INSERT INTO kind (name, paused) VALUES (:name, :paused)
    ON CONFLICT (name) DO UPDATE SET paused = excluded.paused
