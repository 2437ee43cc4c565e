"""Pure work on texts: what to replace, patches and notebooks, how differences are shown."""
