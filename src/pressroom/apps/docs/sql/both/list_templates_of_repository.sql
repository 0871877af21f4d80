SELECT /* template_columns */
  FROM docs_template
 WHERE repository = :repository AND (:git_ref = '' OR git_ref = :git_ref)
 ORDER BY id
