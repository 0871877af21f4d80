SELECT problems FROM docs_build WHERE uid = :uid
