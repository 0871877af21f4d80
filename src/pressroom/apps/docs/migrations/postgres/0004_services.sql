-- Secrets of organisations, encrypted, and the services that use them. No column holds a secret that can be read.

CREATE TABLE docs_credential (
    org          TEXT   NOT NULL REFERENCES docs_org (slug) ON DELETE CASCADE,
    label        TEXT   NOT NULL,
    provider     TEXT   NOT NULL CHECK (provider IN ('aws', 'bearer', 'cloudflare', 'fastly', 'gcp', 's3')),
    ciphertext   TEXT   NOT NULL CHECK (ciphertext LIKE 'vault:v%:%'),
    date_created BIGINT NOT NULL,
    date_changed BIGINT NOT NULL,                     -- when the secret was given; a new encryption of the same one is no change
    PRIMARY KEY (org, label)
);

CREATE TABLE docs_service (
    org              TEXT   NOT NULL REFERENCES docs_org (slug) ON DELETE CASCADE,
    label            TEXT   NOT NULL,
    category         TEXT   NOT NULL CHECK (category IN ('object_storage', 'key_value', 'cdn', 'dns')),
    provider         TEXT   NOT NULL,
    config           TEXT   NOT NULL DEFAULT '{}',
    credential_label TEXT,
    date_created     BIGINT NOT NULL,
    date_changed     BIGINT NOT NULL,
    PRIMARY KEY (org, label),
    FOREIGN KEY (org, credential_label) REFERENCES docs_credential (org, label) DEFERRABLE INITIALLY DEFERRED
);
CREATE INDEX docs_service_credential ON docs_service (org, credential_label) WHERE credential_label IS NOT NULL;

-- Which process writes to a place outside at a time. One with a later move asks the holder to stop by `wanted_seq`.
CREATE TABLE docs_publish_lease (
    place      TEXT   PRIMARY KEY,
    owner      TEXT   NOT NULL,
    wanted_seq BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);
