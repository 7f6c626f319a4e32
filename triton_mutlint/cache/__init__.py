"""What earlier runs found, kept on disk: a run whose inputs hold still is answered from there.

`store` keeps bytes by name, `identity` says what the answers depend on besides files, `runs` keeps
the output of whole runs, `files` the verdicts of one file.
"""
