SELECT settling FROM kind WHERE name = :name
