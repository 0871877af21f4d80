-- Compare and set: a secret that was replaced meanwhile stays.
UPDATE docs_credential
   SET ciphertext = :ciphertext
 WHERE org = :org AND label = :label AND ciphertext = :old
RETURNING label
