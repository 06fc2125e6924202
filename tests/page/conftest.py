from tests.placement.conftest import user

__all__ = ["user"]
