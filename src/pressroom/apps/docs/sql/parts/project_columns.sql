docs_project.id, docs_project.org, docs_project.slug, docs_project.title, docs_project.source_url, docs_project.git_url,
       docs_project.slug_rewrite_rules, docs_project.lifecycle_rules, docs_project.auto_create, docs_project.purgatory_retention,
       docs_project.on_broken_links, docs_project.noindex, docs_project.last_number, docs_project.editions_version, docs_project.dashboard,
       docs_project.dashboard_version, docs_project.date_created, docs_project.date_changed, docs_project.date_deleted
