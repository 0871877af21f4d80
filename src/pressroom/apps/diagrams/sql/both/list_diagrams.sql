-- By name, each with its newest version and its newest good one.
SELECT diagram.id, diagram.org_id, diagram.name, diagram.link, diagram.date_created, diagram.sealed_link,
       newest.number, newest.status,
       newest.format, newest.date_created,
       (SELECT max(number) FROM diagram_version WHERE diagram = diagram.id AND status = 'completed') AS good
  FROM diagram
  JOIN diagram_version AS newest ON newest.diagram = diagram.id
   AND newest.number = (SELECT max(number) FROM diagram_version WHERE diagram = diagram.id)
 WHERE diagram.org_id = :org_id AND diagram.name > :after
 ORDER BY diagram.name
 LIMIT :limit
