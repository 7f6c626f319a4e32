"""One run: from arguments to the report, file by file and kernel by kernel."""
