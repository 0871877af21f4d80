SELECT /* build_columns */
  FROM docs_build
 WHERE uid = :uid
