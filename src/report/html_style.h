// The style sheet of the HTML report.
#pragma once

namespace penstock {

inline constexpr const char* kHtmlStyle = R"css(
:root { color-scheme: light dark;
  --page: #f9f9f7; --card: #fcfcfb; --ink: #0b0b0b; --ink2: #52514e; --ink3: #6f6e69; --line: #e1e0d9; --rule: #c3c2b7;
  --busy: #2a78d6; --starved: #eb6834; --blocked: #b9b7ad; --bar: #9ec5f4; --bar-first: #2a78d6; --after: #008300;
  --good: #006300; --bad: #b02a2a; --add: #e3f3e3; --del: #fbe9e7; }
@media (prefers-color-scheme: dark) { :root {
  --page: #0d0d0d; --card: #1a1a19; --ink: #ffffff; --ink2: #c3c2b7; --ink3: #a09e96; --line: #2c2c2a; --rule: #494845;
  --busy: #3987e5; --starved: #d95926; --blocked: #6b6a64; --bar: #256abf; --bar-first: #5598e7; --after: #3fb83f;
  --good: #0ca30c; --bad: #f08080; --add: #12301a; --del: #3a1c1a; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); font: 15px/1.5 system-ui, -apple-system, "Segoe UI", sans-serif; }
main { max-width: 1160px; margin: 0 auto; padding: 24px 20px 48px; }
h1 { font-size: 22px; line-height: 1.25; margin: 0 0 4px; overflow-wrap: anywhere; }
h2 { font-size: 16px; margin: 0 0 4px; }
p { margin: 0 0 12px; }
.note { color: var(--ink2); font-size: 13px; margin: 0 0 14px; }
section { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 18px 20px; margin-top: 16px; }
.verdict { border-left: 5px solid var(--bad); }
.verdict.good { border-left-color: var(--good); }
.verdict .what { font-size: 13px; font-weight: 600; color: var(--bad); margin: 0 0 4px; }
.verdict.good .what { color: var(--good); }
.verdict .line { font-size: 17px; line-height: 1.4; margin: 0; overflow-wrap: anywhere; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); gap: 12px 20px; margin: 16px 0 0; padding: 14px 0 0; border-top: 1px solid var(--line); }
.tiles dt { color: var(--ink2); font-size: 13px; }
.tiles dd { margin: 0; font-size: 22px; line-height: 1.3; font-weight: 600; }
.tiles dd small { font-size: 13px; font-weight: 400; color: var(--ink2); display: block; }
.scroll { overflow-x: auto; margin: 0 -20px; padding: 0 20px; }
table { border-collapse: collapse; width: 100%; font-size: 13.5px; }
th { font-weight: 500; color: var(--ink2); text-align: right; padding: 6px 9px; border-bottom: 1px solid var(--rule); vertical-align: bottom; white-space: nowrap; }
td { text-align: right; padding: 7px 8px; border-bottom: 1px solid var(--line); white-space: nowrap; font-variant-numeric: tabular-nums; }
tr:last-child td { border-bottom: 0; }
th:first-child, td:first-child, .text { text-align: left; }
th:first-child, td:first-child { padding-left: 0; }
th:last-child, td:last-child { padding-right: 0; }
td.reason { color: var(--ink2); font-size: 12.5px; line-height: 1.35; white-space: normal; min-width: 150px; }
tr.holds td:first-child { font-weight: 600; }
.tag { color: var(--bad); font-weight: 500; font-size: 12px; margin-left: 7px; }
td .range { color: var(--ink2); font-size: 12px; display: block; }
svg { display: block; }
svg text { font: 13px system-ui, -apple-system, "Segoe UI", sans-serif; fill: var(--ink); }
svg .small { font-size: 12px; fill: var(--ink2); }
.split { display: inline-flex; align-items: center; gap: 8px; }
.legend { display: flex; flex-wrap: wrap; gap: 4px 18px; font-size: 13px; color: var(--ink2); margin: 0 0 10px; }
.legend span { display: inline-flex; align-items: center; gap: 6px; }
.legend i { width: 12px; height: 12px; border-radius: 2px; display: inline-block; }
.legend i.mark { width: 0; height: 14px; border-radius: 0; border-left: 2px solid var(--ink); }
.legend i.dashed { border-left-style: dashed; }
.legend i.after { border-left-color: var(--after); }
ol { margin: 0; padding-left: 22px; }
ol li { padding: 3px 0; overflow-wrap: anywhere; }
ol b { font-weight: 600; }
.gain { color: var(--good); }
.pair { display: grid; grid-template-columns: 1fr 1fr; gap: 14px; }
.pair > div { min-width: 0; }
pre { margin: 0; background: var(--page); border: 1px solid var(--line); border-radius: 6px; padding: 10px 0; overflow-x: auto; font: 12.5px/1.55 ui-monospace, "SF Mono", Menlo, Consolas, monospace; }
pre span { display: block; padding: 0 12px 0 36px; text-indent: -24px; white-space: pre-wrap; overflow-wrap: anywhere; min-height: 1.55em; }
pre .add { background: var(--add); } pre .del { background: var(--del); }
h3 { font-size: 13px; font-weight: 500; color: var(--ink2); margin: 0 0 6px; }
footer { color: var(--ink3); font-size: 12.5px; margin-top: 18px; overflow-wrap: anywhere; }
@media (max-width: 700px) { main { padding: 16px 12px 32px; } section { padding: 14px; } .pair { grid-template-columns: 1fr; }
  .scroll { margin: 0 -14px; padding: 0 14px; } h1 { font-size: 19px; } .verdict .line { font-size: 16px; } .tiles { grid-template-columns: 1fr 1fr; }
  .tiles dd { font-size: 19px; } }
)css";

}  // namespace penstock
