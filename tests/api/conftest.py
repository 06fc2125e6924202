from tests.decide.conftest import chain, user

__all__ = ["chain", "user"]
