"""Other people's objects: numpy arrays, torch tensors, containers of them, any value of the user's."""
