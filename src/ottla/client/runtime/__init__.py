"""What carries out the effects of the client's core: scheduler, links to brokers, sockets, threads."""
