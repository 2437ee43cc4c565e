"""The `pai/…` wire: methods and the types of their parameters and results.

Everything on the wire is camelCase. Events are the union of `core/events.py`, encoded by
`session/codec.py`; error codes are in `core/rpc.py`. `docs/protocol.md` is generated from
these modules and a test holds them together.
"""
