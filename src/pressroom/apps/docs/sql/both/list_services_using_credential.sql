SELECT label FROM docs_service WHERE org = :org AND credential_label = :credential_label ORDER BY label
