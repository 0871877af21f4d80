SELECT DISTINCT org FROM docs_purgatory WHERE purge_after <= :now ORDER BY org
