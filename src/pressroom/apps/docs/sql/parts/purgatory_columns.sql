docs_purgatory.id, docs_purgatory.org, docs_purgatory.project, docs_purgatory.what, docs_purgatory.subject, docs_purgatory.name,
       docs_purgatory.reason, docs_purgatory.actor, docs_purgatory.objects, docs_purgatory.bytes, docs_purgatory.date_entered,
       docs_purgatory.purge_after
