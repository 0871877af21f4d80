UPDATE diagram SET link = :link, sealed_link = :sealed_link WHERE id = :id AND link = :key AND sealed_link IS NULL
