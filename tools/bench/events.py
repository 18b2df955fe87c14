def events(setup, report):
    pass
