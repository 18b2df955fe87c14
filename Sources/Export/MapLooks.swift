/// The style and the script of the map page.
///
/// The outline of a circle has the circle's colour and the same width at every scale: on the map of a long drive, where a circle is smaller
/// than a pixel, the outline is visible as a dot.
enum MapLooks {
  static let style = """
    :root { font-family: system-ui, sans-serif; color: #222; background: #fafafa; }
    body { margin: 0 auto; max-width: 72rem; padding: 1rem; }
    header { display: flex; flex-wrap: wrap; gap: 1rem 2rem; align-items: baseline; }
    h1 { font-size: 1.3rem; margin: 0; }
    dl { display: flex; gap: .4rem; margin: 0; } dt { color: #666; } dd { margin: 0 1rem 0 0; font-weight: 600; }
    button { font: inherit; padding: .2rem .8rem; border: 1px solid #bbb; border-radius: .3rem; background: #fff; }
    .technology [data-view=technology], .delay [data-view=delay], .loss [data-view=loss] { background: #222; color: #fff; }
    svg { width: 100%; max-height: 80vh; background: #fff; border: 1px solid #ddd; margin: 1rem 0; }
    circle { fill: currentColor; stroke: currentColor; stroke-width: 3; opacity: .6; vector-effect: non-scaling-stroke; }
    circle:hover { stroke: #222; opacity: 1; }
    circle.wifi { fill: none; stroke-dasharray: 3 3; }
    .track { fill: none; stroke: #bbb; stroke-width: 1; vector-effect: non-scaling-stroke; }
    .scale { stroke: #222; stroke-width: 2; vector-effect: non-scaling-stroke; }
    .legend { display: none; gap: .4rem 1.2rem; flex-wrap: wrap; list-style: none; padding: 0; }
    .legend i { display: inline-block; width: .9em; height: .9em; border-radius: 50%; margin-right: .4em; \
    border: 1px solid #555; }
    .technology .legend.technology, .delay .legend.delay, .loss .legend.loss { display: flex; }
    \(Legend.style)
    """

  static let script = """
    for (const button of document.querySelectorAll('button'))
      button.onclick = () => { document.body.className = button.dataset.view };
    """
}
