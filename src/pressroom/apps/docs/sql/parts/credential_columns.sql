docs_credential.org, docs_credential.label, docs_credential.provider, docs_credential.ciphertext, docs_credential.date_created,
       docs_credential.date_changed
