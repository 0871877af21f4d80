docs_service.org, docs_service.label, docs_service.category, docs_service.provider, docs_service.config, docs_service.credential_label,
       docs_service.date_created, docs_service.date_changed
