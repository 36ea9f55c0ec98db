"""What every threshold costs, and choosing one."""
