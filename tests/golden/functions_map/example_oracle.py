def conforming(): pass
def parse(): pass
