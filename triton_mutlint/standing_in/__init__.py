"""Sources that are read in place of files of packages that are not installed; nothing imports them."""
