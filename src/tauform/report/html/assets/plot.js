// Figures of the page, drawn by Plotly: a tab for each panel, axes of time that move together, colours of the page.
const Look = (() => {
  "use strict";
  const CONFIG = {
    responsive: true, displaylogo: false, scrollZoom: false,
    // a page that needs no network sends nothing: Plotly's own default is a button that uploads the figure
    showSendToCloud: false, plotlyServerURL: "",
    modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d", "toggleSpikelines"],
  };
  const colour = name => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
  // Dark or light may change while the page is open; whoever draws is told.
  const drawers = [];
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => drawers.forEach(draw => draw()));

  function layout(more) {
    const text = colour("soft"), line = colour("line");
    const axis = { gridcolor: colour("faint"), zerolinecolor: line, linecolor: line, automargin: true, tickformat: "~g" };
    return {
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
      font: { color: text, size: 12, family: getComputedStyle(document.body).fontFamily },
      margin: { l: 58, r: 12, t: 8, b: 44 }, hovermode: "x unified",
      hoverlabel: { bgcolor: colour("card"), bordercolor: line, font: { color: colour("ink") } },
      // above the curves: below, it would run into the title of the axis on narrow screens
      legend: { orientation: "h", y: 1.01, yanchor: "bottom", x: 0, font: { color: colour("ink") } },
      modebar: { bgcolor: "rgba(0,0,0,0)", color: text, activecolor: colour("accent") },
      ...more, xaxis: { ...axis, ...more.xaxis }, yaxis: { ...axis, ...more.yaxis },
    };
  }

  // Plotly reads tags in texts; names of robots are shown as they are.
  const plain = text => text?.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

  return { colour, layout, plain, config: CONFIG, drawers };
})();

(() => {
  "use strict";
  class Figure {
    constructor(element) {
      this.element = element;
      this.data = JSON.parse(element.querySelector("script").textContent);
      this.stage = element.querySelector(".stage");
      this.tabs = [...element.querySelectorAll("[role=tab]")];
      this.shown = 0;
      this.tabs.forEach((tab, k) => {
        tab.onclick = () => this.show(k);
        tab.onkeydown = event => {
          const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
          if (!step) return;
          const next = (k + step + this.tabs.length) % this.tabs.length;
          this.tabs[next].focus();
          this.show(next);
        };
      });
      this.ready = this.draw();
    }

    show(k) {
      this.shown = k;
      this.tabs.forEach((tab, i) => { tab.ariaSelected = String(i === k); tab.tabIndex = i === k ? 0 : -1; });
      return this.draw();
    }

    traces() {
      const { series } = this.data.panels[this.shown], { points, bars, heat } = this.data;
      if (heat) return this.matrix();
      return series.map((s, k) => {
        const own = Look.colour(`s${s.colour ?? k % 8}`), given = s.x ?? this.data.x;
        const x = given?.map(v => (typeof v === "string" ? Look.plain(v) : v));
        const about = { name: Look.plain(s.name), x, y: s.y, text: s.notes?.map(Look.plain), visible: s.hidden ? "legendonly" : true };
        // bars keep apart in grey print by their filling
        if (bars) return this.bar(about, { color: own, pattern: { shape: ["", "/"][k % 2] } });
        const mode = s.style === "points" ? "markers" : points ? "lines+markers" : "lines";
        // a cloud of points is small, a few have to be seen
        const cloud = s.style === "points" && s.y.length > 20;
        const marker = { color: own, symbol: s.symbol, size: cloud ? 4 : s.style === "points" ? 8 : 5 };
        return { ...about, type: "scatter", mode, line: { color: own, ...s.line }, marker, ...this.whiskers(s) };
      });
    }

    bar(about, marker) {
      const texttemplate = "%{x:.2~r}", shown = { textposition: "outside", cliponaxis: false, constraintext: "none", textfont: { size: 10 } };
      return { ...about, type: "bar", orientation: "h", x: about.y, y: about.x, marker, texttemplate, ...shown, hovertemplate: "%{y}: %{x:.3~g}" };
    }

    // A matrix from -1 to 1: blue and orange, as pale as it is small.
    matrix() {
      const { series } = this.data.panels[this.shown], names = series.map(s => Look.plain(s.name));
      const scale = [[0, Look.colour("s1")], [0.5, Look.colour("card")], [1, Look.colour("s0")]];
      const words = { hovertemplate: "%{y}, %{x}: %{z:.2f}<extra></extra>", colorbar: { thickness: 12, outlinewidth: 0 } };
      return [{ type: "heatmap", z: series.map(s => s.y), x: names, y: names, zmin: -1, zmax: 1, colorscale: scale, xgap: 1, ygap: 1, ...words }];
    }

    whiskers(s) {
      return s.spread ? { error_y: { type: "data", array: s.spread, color: Look.colour("soft"), thickness: 1 } } : {};
    }

    draw() {
      const { xlabel, ylabel, xticks, yticks, bars, heat, panels } = this.data;
      // whole numbers at every tick: digits between powers of ten are too small to read, and nine a decade too many
      const kind = nticks => (nticks ? { type: "log", tickformat: "~g", nticks } : {});
      const { name, xlabel: own, ylabel: height, series } = panels[this.shown];
      // "2026-03-16 06:00" as abscissa: Plotly writes dates itself
      const dates = /^\d{4}-\d\d-\d\d \d\d:\d\d$/.test(series[0]?.x?.[0]) ? { type: "date", tickformat: "" } : {};
      const across = { title: { text: Look.plain(own || xlabel) }, ...kind(xticks), ...dates };
      // with a standoff of its own: without, long numbers run into it
      const upright = { title: { text: Look.plain(height || ylabel), standoff: 6 }, ...kind(yticks) };
      // Bars lie: names of joints stand beside them in full, the first on top.
      const axes = bars ? { xaxis: upright, yaxis: { ...across, title: undefined, autorange: "reversed", ticksuffix: " " }, hovermode: "closest" } : { xaxis: across, yaxis: upright };
      if (heat) Object.assign(axes, { xaxis: { type: "category" }, yaxis: { type: "category", autorange: "reversed" }, hovermode: "closest" });
      // zoom and hidden curves stay when another tab is shown
      const layout = Look.layout({ uirevision: "kept", ...axes });
      const drawn = Plotly.react(this.stage, this.traces(), layout, Look.config);
      return drawn.then(() => { this.element.dataset.drawn = name || "all"; });
    }
  }

  const figures = [...document.querySelectorAll("figure.plot")].map(element => new Figure(element));
  Look.drawers.push(() => figures.forEach(figure => figure.draw()));

  // Figures with one axis of time: a range chosen in one is chosen in all.
  let moving = false;
  for (const figure of figures.filter(f => f.data.link)) {
    figure.ready.then(() => figure.stage.on("plotly_relayout", change => {
      const range = change["xaxis.range"] ?? ("xaxis.range[0]" in change ? [change["xaxis.range[0]"], change["xaxis.range[1]"]] : null);
      if (moving || !(range || change["xaxis.autorange"])) return;
      moving = true;
      const others = figures.filter(f => f !== figure && f.data.link === figure.data.link);
      const same = range ? { "xaxis.range": range } : { "xaxis.autorange": true };
      Promise.all(others.map(f => Plotly.relayout(f.stage, same))).finally(() => { moving = false; });
    }));
  }
  // On paper figures have the width of an A4 page, or of the second column of its first screen.
  const paper = stage => (stage.closest(".first > div:not(:first-child)") ? 410 : 690);
  const printed = f => Plotly.relayout(f.stage, { width: paper(f.stage) });
  // Twice: the second time legends stand where the margins of the first have put the axes.
  addEventListener("beforeprint", () => figures.forEach(f => { printed(f); printed(f); }));
  addEventListener("afterprint", () => figures.forEach(f => Plotly.relayout(f.stage, { width: null, autosize: true })));
})();
