DELETE FROM artifact WHERE uid IN (SELECT value FROM json_each(:uids)) RETURNING uid
