SELECT count(*) FROM webhook_secret WHERE substr(secret, 1, length(:prefix)) <> :prefix
