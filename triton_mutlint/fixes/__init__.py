"""Mechanical fixes: from the changes that findings ask for to text edits, each analysed before it is written."""
