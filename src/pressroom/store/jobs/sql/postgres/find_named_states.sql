SELECT uid, status, waits_for, run_at FROM job WHERE uid = ANY (ARRAY(SELECT json_array_elements_text(:uids::json)))
