"""What earlier runs found, kept on disk: a run whose inputs hold still is answered from there.

`store` keeps bytes by name, `runs` the output of whole runs, and it says what answers depend on besides files,
`files` the verdicts of one file.
"""
