// Draws in a world of scripts that is made for one diagram and then thrown away. The page's policy forbids scripts of any other
// origin, so markup that slips through Mermaid finds nothing that would run it.
async (source, id, config) => {
  mermaid.initialize(config);
  try {
    const { svg, diagramType } = await mermaid.render(id, source);
    // What Mermaid hands out is HTML: <br> without an end. Read it as what it is, and write it as XML.
    const drawn = new DOMParser().parseFromString(svg, "text/html").querySelector("svg");
    const today = [...drawn.querySelectorAll("g.today")];
    for (const line of today) line.remove();
    const [, , width, height] = (drawn.getAttribute("viewBox") ?? "").split(/[\s,]+/).map(Number);
    if (width > 0 && height > 0) {
      drawn.setAttribute("width", width);
      drawn.setAttribute("height", height);
      drawn.style.removeProperty("max-width");
    }
    return { svg: new XMLSerializer().serializeToString(drawn), diagramType, today: today.length };
  } catch (error) {
    const place = error?.hash?.loc;
    return {
      error: String(error?.message ?? error),
      line: place?.first_line ?? error?.hash?.line ?? null,
      column: place ? place.first_column + 1 : null,
    };
  }
}
