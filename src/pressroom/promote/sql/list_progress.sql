SELECT name, rows, size, digest FROM pressroom_promotion_table
