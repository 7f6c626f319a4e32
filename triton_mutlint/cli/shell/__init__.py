"""What every command needs: options, output, progress, and the boundary at which errors end."""
