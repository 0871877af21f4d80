UPDATE docs_build SET date_deleted = :now WHERE uid = :uid AND date_deleted IS NULL RETURNING uid
