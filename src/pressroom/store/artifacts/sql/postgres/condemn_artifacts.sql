-- From the first file that is deleted on, an artifact can be held no more.
UPDATE artifact SET expires_at = 1 WHERE uid IN (SELECT json_array_elements_text(:uids::json))
