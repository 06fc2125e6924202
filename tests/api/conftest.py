from tests.decide.conftest import user

__all__ = ["user"]
