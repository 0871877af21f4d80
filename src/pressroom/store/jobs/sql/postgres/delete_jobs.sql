DELETE FROM job WHERE id IN (SELECT value::bigint FROM json_array_elements_text(:ids::json)) RETURNING id
