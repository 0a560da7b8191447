"""The studio: the package as an application in the browser, on this machine alone."""
