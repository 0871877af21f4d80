SELECT name, paused, slots FROM kind WHERE name = :name
