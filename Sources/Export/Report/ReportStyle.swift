/// The style of the report page: light and dark by the reader's setting, and A4 pages on paper. It is inside of the page,
/// as ``ReportPage`` refers to no other file.
enum ReportStyle {
  static let css = """
    :root { color-scheme: light dark; --ink: #1c1f23; --soft: #555b63; --paper: #fff; --shade: #1c1f2344; --line: #c9ced6; --tile: #f1f4f8;
      --link: #0b57a4; --good: #1a7f4b; --slow: #b85c00; --lost: #b3261e;
      --t0: #8f3b00; --t1: #7a6a00; --t2: #0b57a4; --t3: #7b2fb5; --t4: #00785c;
      --water: #c4d7e4; --green: #dce7da; --built: #e3e5e9; --road: #a9b3bc; --image: 1; }
    @media (prefers-color-scheme: dark) { :root { --ink: #e8eaed; --soft: #b3bac4; --paper: #16191d; --shade: #e8eaed55; --line: #454c56;
      --tile: #22272e; --link: #8ab8f5; --good: #57c98b; --slow: #f0a04b; --lost: #ff8a80;
      --t0: #ff9e63; --t1: #e0cc4a; --t2: #79b8ff; --t3: #cf9bff; --t4: #4fd6b0;
      --water: #0b2b40; --green: #13241c; --built: #2a3139; --road: #465462; --image: .55; } }
    * { box-sizing: border-box; }
    body { margin: 0 auto; max-width: 64rem; padding: 1rem; font: 1rem/1.4 system-ui, sans-serif; color: var(--ink);
      background: var(--paper); }
    h1 { font-size: 1.5rem; margin: 0 0 .2rem; } h2 { font-size: 1.1rem; margin: 1.2rem 0 .4rem; }
    p { margin: .2rem 0; } .soft, figcaption { color: var(--soft); } a { color: var(--link); }
    .tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(7.5rem, 1fr)); gap: .6rem; margin: .8rem 0; }
    .tiles div { background: var(--tile); border-radius: .4rem; padding: .5rem .7rem; }
    .tiles dt { color: var(--soft); font-size: .85rem; } .tiles dd { margin: 0; font-size: 1.25rem; font-weight: 600; }
    .tiles dd .soft { font-size: .85rem; font-weight: 400; line-height: 1.2; display: inline-block; }
    .columns { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(22rem, 100%), 1fr)); gap: 0 1.5rem; }
    .columns > * { min-width: 0; } .columns > :nth-child(2) { grid-row: span 2; }
    /* Where a table goes on behind an edge, a shadow is there: the ground that hides it moves with the table. */
    .scroll { overflow-x: auto; margin: .6rem 0; background: linear-gradient(90deg, var(--paper) 40%, transparent) 0 0 / 2.5rem 100% no-repeat local,
      linear-gradient(270deg, var(--paper) 40%, transparent) 100% 0 / 2.5rem 100% no-repeat local,
      linear-gradient(90deg, var(--shade), transparent) 0 0 / .8rem 100% no-repeat scroll,
      linear-gradient(270deg, var(--shade), transparent) 100% 0 / .8rem 100% no-repeat scroll; }
    table { border-collapse: collapse; width: 100%; font-size: .88rem; }
    caption { text-align: left; font-weight: 600; padding: .2rem 0; } thead th { color: var(--soft); font-weight: 500; }
    th, td { border-bottom: 1px solid var(--line); padding: .2rem 0 .2rem .9em; text-align: right; vertical-align: top;
      font-variant-numeric: tabular-nums; }
    th:first-child { text-align: left; font-weight: 500; min-width: 7.5rem; padding-left: 0; } sup { line-height: 0; margin-left: .15em; }
    td { white-space: nowrap; } .compared .columns td { white-space: normal; } sup + sup::before { content: ' '; }
    .maps { display: grid; grid-template-columns: repeat(auto-fill, minmax(14rem, 1fr)); gap: .8rem; }
    figure { margin: 0; } figcaption { font-size: .8rem; }
    svg { width: 100%; border: 1px solid var(--line); border-radius: .3rem; background: var(--tile); display: block; }
    svg text { font-size: 9px; fill: var(--ink); } .bar { stroke: var(--ink); stroke-width: 1.5; }
    polyline { fill: none; stroke: var(--soft); stroke-width: 1; }
    circle { fill-opacity: .45; stroke-width: 1.2; } .good { fill: var(--good); stroke: var(--good); }
    .slow { fill: var(--slow); stroke: var(--slow); } .lost { fill: none; stroke: var(--lost); stroke-dasharray: 3 2; }
    .none { fill: none; stroke: var(--soft); }
    image { opacity: var(--image); } .ground path { fill: none; stroke: var(--road); stroke-width: .7; }
    .ground .built { fill: var(--built); stroke: none; } .ground .green { fill: var(--green); stroke: none; }
    .ground .water { fill: var(--water); stroke: none; } .ground .river { stroke: var(--water); stroke-width: 1; }
    .ground .street { stroke-width: .35; } .ground .motorway { stroke-width: 1.4; } .ground .rail { stroke-dasharray: 3 1.5; } .ground .border { stroke-dasharray: 6 3 1 3; }
    .charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(22rem, 100%), 1fr)); gap: 1rem; }
    .charts > figure:last-child:nth-child(odd) { grid-column: 1 / -1; display: grid; grid-template-columns: subgrid; }
    .chart text, .mark { font-size: 10px; } .mark { font-weight: 700; paint-order: stroke; stroke: var(--tile); stroke-width: 3px; }
    .grid { stroke: var(--line); stroke-width: .6; } .line { fill: none; stroke: var(--soft); stroke-width: 1.8; }
    .delay { stroke: var(--ink); stroke-width: 1.2; } .loss { fill: var(--lost); fill-opacity: .45; stroke: none; }
    .silent { fill: var(--lost); stroke: none; } .start { stroke: var(--soft); stroke-width: .8; stroke-dasharray: 2 3; }
    .box { fill-opacity: .3; stroke-width: 1; } .median { stroke: var(--ink); stroke-width: 2; }
    .t0 { stroke: var(--t0); fill: var(--t0); stroke-dasharray: 2 2; } .t1 { stroke: var(--t1); fill: var(--t1); stroke-dasharray: 8 2 2 2; }
    .t2 { stroke: var(--t2); fill: var(--t2); } .t3 { stroke: var(--t3); fill: var(--t3); stroke-dasharray: 6 3; }
    .t4 { stroke: var(--t4); fill: var(--t4); stroke-dasharray: 10 3; } .t5 { stroke: var(--soft); fill: var(--soft); stroke-dasharray: 1 2; }
    .line, .line.t0, .line.t1, .line.t2, .line.t3, .line.t4, .line.t5 { fill: none; } .box { stroke-dasharray: none; }
    .key { white-space: nowrap; margin-right: .6em; } svg.sample { display: inline-block; width: 22px; height: 8px; border: 0; background: none; }
    .facts { margin: .4rem 0; font-size: .85rem; } .facts div { display: flex; gap: .6em; } .facts dt { color: var(--soft); flex: 0 0 11rem; }
    .facts dd { margin: 0; overflow-wrap: anywhere; min-width: 0; } .from { font-weight: 400; font-size: .85em; margin-left: .4em; } .digest { font: .75em/1.3 monospace; }
    ol { font-size: .8rem; color: var(--soft); padding-left: 1.4rem; margin: .3rem 0; } li { margin: .15rem 0; }
    @media print { :root { font-size: 9.5pt; color-scheme: light; --ink: #000; --soft: #444; --paper: #fff; --line: #bbb; --tile: #f4f4f4;
        --link: #000; --good: #1a7f4b; --slow: #b85c00; --lost: #b3261e;
        --t0: #8f3b00; --t1: #7a6a00; --t2: #0b57a4; --t3: #7b2fb5; --t4: #00785c;
        --water: #c4d7e4; --green: #dce7da; --built: #e3e5e9; --road: #a9b3bc; --image: 1; }
      @page { size: A4; margin: 13mm; @bottom-left { font: 6.8pt system-ui, sans-serif; color: #444; }
        @bottom-right { content: counter(page) " / " counter(pages); font: 6.8pt system-ui, sans-serif; color: #444; } }
      body { font-size: 8.6pt; line-height: 1.25; padding: 0; max-width: none; } a { text-decoration: none; }
      .maps { grid-template-columns: repeat(3, 1fr); gap: 3mm; } .charts { grid-template-columns: 1fr 1fr; gap: 3mm; }
      .columns { grid-template-columns: 1fr 1fr; } .tiles { grid-template-columns: repeat(4, 1fr); }
      th, td { padding: .1rem 0 .1rem .7em; } th:first-child { min-width: 10rem; } figcaption { font-size: 7.2pt; }
      .compared table { font-size: 7.2pt; } .compared > .scroll br:has(+ .soft) { display: none; }
      .compared > .scroll td > .soft { margin-left: .5em; }
      .facts { font-size: 7.8pt; } .digest { font-size: 5.4pt; }
      ol { font-size: 6.8pt; line-height: 1.2; } h2 { margin: 2mm 0 1mm; padding-top: 1mm; } h2, h2 + p, p:has(+ .maps), .scroll:has(+ p) { break-after: avoid; }
      figure, tr, caption, thead { break-inside: avoid; } thead { display: table-header-group; }
      caption, thead, tbody tr:first-child, tbody tr:nth-last-child(2) { break-after: avoid; }
      .scroll { overflow: visible; margin: 2mm 0; background: none; } * { print-color-adjust: exact; } }
    """
}
