DELETE FROM worker WHERE uid = :uid
