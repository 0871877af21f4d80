SELECT uid, org_id, url, events, kinds, disabled_because, date_created FROM webhook WHERE uid = :uid
