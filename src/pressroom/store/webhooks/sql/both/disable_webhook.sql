UPDATE webhook SET disabled_because = :reason WHERE uid = :uid
