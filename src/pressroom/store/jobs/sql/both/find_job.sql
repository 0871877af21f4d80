SELECT id, status, kind, claim, cancel_requested, org_id, key FROM job WHERE uid = :uid
