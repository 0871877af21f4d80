-- From now on this job delivers it. Whatever an earlier one still does no longer counts.
UPDATE webhook_delivery SET job = :job, state = 'waiting', attempts = 0, date_ended = NULL WHERE uid = :uid
