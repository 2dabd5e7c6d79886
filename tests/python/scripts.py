"""Scripts without a suffix as modules, for their tests."""
from __future__ import annotations

import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType


def load(script: Path) -> ModuleType:
    """The script as a module, by its name; it leaves no compiled file behind."""
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    loader = SourceFileLoader(script.name, str(script))
    spec = spec_from_loader(script.name, loader)
    assert spec is not None
    module = module_from_spec(spec)
    sys.modules[script.name] = module
    loader.exec_module(module)
    sys.dont_write_bytecode = before
    return module
