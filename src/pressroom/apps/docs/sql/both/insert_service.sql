INSERT INTO docs_service (org, label, category, provider, config, credential_label, date_created, date_changed)
VALUES (:org, :label, :category, :provider, :config, :credential_label, :now, :now)
ON CONFLICT (org, label) DO NOTHING
RETURNING label
