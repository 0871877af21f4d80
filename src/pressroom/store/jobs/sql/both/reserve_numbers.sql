-- Take the next :count numbers; the last of them comes back.
UPDATE sequence SET value = value + :count RETURNING value
