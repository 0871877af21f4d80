UPDATE docs_service
   SET config = :config, credential_label = :credential_label, date_changed = :now
 WHERE org = :org AND label = :label
