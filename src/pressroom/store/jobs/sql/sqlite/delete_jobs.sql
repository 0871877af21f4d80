DELETE FROM job WHERE id IN (SELECT value FROM json_each(:ids)) RETURNING id
