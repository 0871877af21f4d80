UPDATE webhook_secret SET secret = :sealed WHERE webhook = :webhook AND secret = :secret
