"""An inert driver: never active, so that Triton's choice of a device is what it would be without it."""

from triton.backends.driver import DriverBase


class TilewrightDriver(DriverBase):
    def __init__(self):
        pass

    @staticmethod
    def is_active() -> bool:
        return False

    def map_python_to_cpp_type(self, ty: str) -> str:
        raise NotImplementedError

    def get_current_target(self):
        raise NotImplementedError

    def get_active_torch_device(self):
        raise NotImplementedError

    def get_benchmarker(self):
        raise NotImplementedError
