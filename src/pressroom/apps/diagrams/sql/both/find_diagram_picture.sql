SELECT number, artifact
  FROM diagram_picture
 WHERE diagram = :diagram AND output = :output AND theme = :theme AND number = :number
