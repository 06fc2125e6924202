"""pegasus-bb simulate --mix, --provision and --flash."""
