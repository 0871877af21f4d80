docs_edition.id, docs_edition.project, docs_edition.slug, docs_edition.title, docs_edition.kind, docs_edition.tracking_mode,
       docs_edition.tracking_params, docs_edition.lifecycle_exempt, docs_edition.pinned, docs_edition.build, docs_edition.publish_status,
       docs_edition.publish_seq, docs_edition.published_seq, docs_edition.publish_error, docs_edition.ref_missing_since,
       docs_edition.date_created, docs_edition.date_changed, docs_edition.date_deleted
