"""Other people's frameworks, one a file; each is imported by its own file only.

The file of a framework that is not installed raises an ImportError that says what to install.
"""
