SELECT name FROM kind WHERE paused = 1 ORDER BY name
