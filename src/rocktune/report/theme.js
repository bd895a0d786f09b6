// Draws the report's figures in the page's own colours, and again when the colour scheme changes.
(function () {
  "use strict";
  const narrow = window.matchMedia("(max-width: 640px)");
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const still = { displayModeBar: false, displaylogo: false, doubleClick: "reset" };

  function colour(role) {
    return getComputedStyle(document.documentElement).getPropertyValue("--" + role).trim();
  }

  // Returns a copy of a specification with each "role:name" replaced by that role's colour, and "role:name/aa" by
  // the same with an opacity of aa (hexadecimal).
  function coloured(value) {
    if (typeof value === "string" && value.startsWith("role:")) {
      const [role, opacity = ""] = value.slice(5).split("/");
      return colour(role) + opacity;
    }
    if (Array.isArray(value)) return value.map(coloured);
    if (value && typeof value === "object")
      return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, coloured(inner)]));
    return value;
  }

  function axis(own) {
    return Object.assign(
      {
        automargin: true, gridcolor: colour("grid"), linecolor: colour("grid"), zerolinecolor: colour("grid"),
        tickcolor: colour("grid"), rangemode: "tozero", nticks: narrow.matches ? 5 : 9, fixedrange: narrow.matches,
      },
      own,
      { title: Object.assign({ standoff: 12, font: { size: 13, color: colour("muted") } }, own.title) },
    );
  }

  function draw(element) {
    const figure = coloured(JSON.parse(document.getElementById(element.dataset.figure).textContent));
    const layout = Object.assign(
      {
        paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
        font: { family: getComputedStyle(document.body).fontFamily, size: 13, color: colour("text") },
        margin: { l: 10, r: 10, t: 10, b: 10 },
        width: element.clientWidth, height: element.clientHeight, showlegend: figure.data.length > 1,
        legend: { orientation: "h", x: 0, xanchor: "left", y: 1.02, yanchor: "bottom", traceorder: "normal" },
        hoverlabel: { bgcolor: colour("surface"), bordercolor: colour("grid"), font: { color: colour("text") } },
        separators: ".,",
      },
      figure.layout,
    );
    layout.xaxis = axis(figure.layout.xaxis);
    layout.yaxis = axis(figure.layout.yaxis);
    Plotly.react(element, figure.data, layout, still);
  }

  function drawAll() {
    document.querySelectorAll("[data-figure]").forEach(draw);
  }

  dark.addEventListener("change", drawAll);
  // Also reports each figure's first size, so this draws the page to begin with.
  const sized = new ResizeObserver((entries) => entries.forEach((entry) => draw(entry.target)));
  document.querySelectorAll("[data-figure]").forEach((element) => sized.observe(element));
})();
