"""The operators: one engine, several as a tree, a group of queries."""
