"""One kind of data a file: validated by `from_data`, encoded by `to_*_value`, decoded by `from_value`."""
