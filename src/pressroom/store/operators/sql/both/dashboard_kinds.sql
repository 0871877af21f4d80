SELECT name, paused, slots FROM kind ORDER BY name
