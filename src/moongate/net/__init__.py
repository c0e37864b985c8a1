"""The upstream HTTP/1.1 client: a pure reader, one socket per connection, one pool per origin."""
