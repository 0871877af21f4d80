SELECT name, slots FROM kind WHERE slots IS NOT NULL ORDER BY name
