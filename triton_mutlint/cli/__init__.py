"""The command line: it alone prints and exits. Commands are imported when they are called."""
