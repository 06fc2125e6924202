"""Would this workflow run on this site? Each thing that must hold, and its mend."""
