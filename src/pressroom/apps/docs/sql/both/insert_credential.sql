INSERT INTO docs_credential (org, label, provider, ciphertext, date_created, date_changed)
VALUES (:org, :label, :provider, :ciphertext, :now, :now)
ON CONFLICT (org, label) DO NOTHING
RETURNING label
