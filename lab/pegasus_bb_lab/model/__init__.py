"""What the commands read: machines, mixes of jobs, applications, flash devices."""
