UPDATE docs_credential
   SET ciphertext = :ciphertext, date_changed = :now
 WHERE org = :org AND label = :label
