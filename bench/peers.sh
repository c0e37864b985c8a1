#!/usr/bin/env bash
# Installs the peers that are measured beside moongate, pinned, into a cache folder outside the repository.
set -uo pipefail
cache=${MOONGATE_BENCH_CACHE:-$HOME/.cache/moongate/bench}
mkdir -p "$cache"

from_pypi() { # name, requirement
  [ -x "$cache/$1/bin/python" ] || python3 -m venv "$cache/$1"
  "$cache/$1/bin/python" -m pip install -q --disable-pip-version-check "$2" || echo "bench-peers: $1 could not be installed"
}
from_npm() { # name, package
  mkdir -p "$cache/$1"
  npm install --silent --no-fund --no-audit --prefix "$cache/$1" "$2" || echo "bench-peers: $1 could not be installed"
}
from_pypi smg smg==1.13.0
from_npm node node@24
from_npm portkey @portkey-ai/gateway@1.15.2
from_npm llms @musistudio/llms@1.0.53
from_pypi litellm 'litellm[proxy]==1.105.0'
ls "$cache"
