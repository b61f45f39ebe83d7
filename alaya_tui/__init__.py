"""Alaya's two faces: the screen and the command line."""
