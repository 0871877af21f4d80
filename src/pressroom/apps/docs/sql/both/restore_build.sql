UPDATE docs_build SET date_deleted = NULL WHERE uid = :uid
