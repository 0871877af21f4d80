-- Stamps that were made, each by a job.
CREATE TABLE toy_stamp (
    org_id       TEXT   NOT NULL DEFAULT '',
    name         TEXT   NOT NULL CHECK (name <> ''),
    text         TEXT   NOT NULL,
    date_created BIGINT NOT NULL,
    PRIMARY KEY (org_id, name)
);
