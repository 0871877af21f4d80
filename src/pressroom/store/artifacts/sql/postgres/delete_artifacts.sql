DELETE FROM artifact WHERE uid IN (SELECT value FROM json_array_elements_text(:uids::json)) RETURNING uid
