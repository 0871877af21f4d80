docs_org.slug, docs_org.title, docs_org.base_domain, docs_org.url_scheme, docs_org.root_path_prefix, docs_org.slug_rewrite_rules,
       docs_org.lifecycle_rules, docs_org.auto_create, docs_org.default_edition, docs_org.purgatory_retention, docs_org.is_private,
       docs_org.slots, docs_org.date_created, docs_org.date_changed
