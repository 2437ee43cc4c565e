"""The vocabulary of Pails: plain frozen data and protocols, standard library only."""
