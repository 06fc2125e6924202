"""How fast data is moved, beside what people use today: `make bench-staging`."""
