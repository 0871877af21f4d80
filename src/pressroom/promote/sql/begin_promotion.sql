INSERT INTO pressroom_promotion (uid, source) VALUES (:promotion, :source)
