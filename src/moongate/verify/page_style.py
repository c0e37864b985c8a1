"""The style of the HTML report, for light and dark, from phone to paper."""

from __future__ import annotations

from typing import Final

STYLE: Final = """
:root{--ground:#fff;--panel:#f6f7f9;--ink:#1b1f24;--dim:#57606a;--line:#d5dae0;--raw:#b4540a;--repaired:#0b6e99;
--clean:#2e7d4f;--damaged:#b3261e;--failed:#5f6368}
@media (prefers-color-scheme:dark){:root{--ground:#14171a;--panel:#1d2125;--ink:#e6e9ec;--dim:#9aa4ae;--line:#3a4148;
--raw:#f0a05a;--repaired:#5cbbe6;--clean:#6cc08b;--damaged:#f2837b;--failed:#9aa0a6}}
*{box-sizing:border-box}
body{margin:0;background:var(--ground);color:var(--ink);font:16px/1.5 system-ui,sans-serif}
main{max-width:52rem;margin:0 auto;padding:1.5rem 1rem 3rem}
h1{font-size:1.6rem;margin:0;overflow-wrap:anywhere}h2{font-size:1.2rem;margin:2rem 0 .5rem}h3{font-size:1rem;margin:0}
p{margin:.4rem 0}header p,small,footer,.legend{color:var(--dim)}small{font-weight:400}
section>svg{width:100%;height:auto;display:block;margin:.6rem 0}
svg text{fill:var(--ink);font:13px system-ui,sans-serif}svg .value{fill:var(--dim);font-size:12px}
svg .grid{stroke:var(--line);stroke-width:1}
svg line.raw{stroke:var(--raw);stroke-width:3}svg line.repaired{stroke:var(--repaired);stroke-width:3}
svg .raw{fill:var(--raw)}svg .repaired{fill:var(--repaired)}
.worth-clean{fill:var(--clean);background:var(--clean)}.worth-repaired{fill:var(--repaired);background:var(--repaired)}
.worth-damaged{fill:var(--damaged);background:var(--damaged)}.worth-failed{fill:var(--failed);background:var(--failed)}
td span{white-space:nowrap}
.legend{list-style:none;padding:0;display:flex;flex-wrap:wrap;gap:.2rem 1rem;margin:.3rem 0}
.legend span{display:inline-block;width:.8rem;height:.8rem;border-radius:2px;margin-right:.35rem;align-self:center}
.legend span.raw{background:var(--raw)}.legend span.repaired{background:var(--repaired)}
table{width:100%;border-collapse:collapse;font-variant-numeric:tabular-nums}
th,td{text-align:left;padding:.45rem .5rem;border-bottom:1px solid var(--line);vertical-align:top}
th small{display:block}
@media (min-width:34.01rem){td{white-space:nowrap}}
.lists{display:grid;grid-template-columns:repeat(auto-fit,minmax(11rem,1fr));gap:1rem}
.lists ul{margin:.3rem 0;padding-left:1.1rem}
code{font:.85rem/1.45 ui-monospace,monospace;overflow-wrap:anywhere}
article{background:var(--panel);border:1px solid var(--line);border-radius:6px;padding:.8rem 1rem;margin:.8rem 0}
dl{display:grid;grid-template-columns:4rem 1fr;gap:.3rem .8rem;margin:.5rem 0 0}dt{color:var(--dim)}
dd{margin:0;overflow-wrap:anywhere;min-width:0}
footer{margin-top:2.5rem;border-top:1px solid var(--line);padding-top:.8rem;font-size:.9rem}
@media (max-width:34rem){dl{grid-template-columns:1fr}th,td{padding:.4rem .25rem;font-size:.88rem}
svg text{font-size:19px}svg .value{font-size:17px}}
@media print{body{background:#fff}article{break-inside:avoid}}
""".replace("\n", "")
