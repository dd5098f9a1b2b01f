"""An inert compiler back end: Triton demands exactly one concrete class of each kind from an entry point."""

from triton.backends.compiler import BaseBackend


class TilewrightBackend(BaseBackend):
    binary_ext = "o"

    @staticmethod
    def supports_target(target) -> bool:
        return False

    def hash(self) -> str:
        return "tilewright"

    def parse_options(self, options: dict) -> object:
        raise NotImplementedError("Tilewright compiles through triton.autotune, not as a back end of its own")

    def add_stages(self, stages: dict, options: object, language=None) -> None:
        raise NotImplementedError("Tilewright compiles through triton.autotune, not as a back end of its own")

    def load_dialects(self, context) -> None:
        pass

    def get_module_map(self) -> dict:
        return {}
