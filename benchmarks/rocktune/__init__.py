"""rocktune's own claims: its device, runner, scale models and executors."""
