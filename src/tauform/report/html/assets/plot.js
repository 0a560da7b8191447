// Line and point plots in SVG: tabs for panels, a legend that hides series, values under the pointer.
(() => {
  "use strict";
  const SVG = "http://www.w3.org/2000/svg";
  const MARGIN = { top: 10, right: 12, bottom: 40, left: 62 };

  function make(parent, tag, attributes = {}, text = null) {
    const node = tag.startsWith("svg:") ? document.createElementNS(SVG, tag.slice(4)) : document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    if (text !== null) node.textContent = text;
    if (parent) parent.appendChild(node);
    return node;
  }

  function format(value) {
    if (value === 0) return "0";
    const size = Math.abs(value);
    if (size >= 1e5 || size < 1e-3) return value.toExponential(2).replace(/\.?0+e/, "e");
    return String(Number(value.toPrecision(4)));
  }

  // Round steps of 1, 2 or 5; on a logarithmic axis the powers of ten, and 2 and 5 between few of them.
  function ticks(low, high, count) {
    const raw = (high - low) / count, power = Math.pow(10, Math.floor(Math.log10(raw)));
    const step = [1, 2, 5, 10].map(k => k * power).find(k => k >= 0.75 * raw);
    const result = [];
    for (let k = Math.ceil(low / step); k <= Math.floor(high / step + 1e-9); k++) result.push(Number((k * step).toPrecision(12)));
    return result;
  }

  function logTicks(low, high) {
    const factors = high / low < 300 ? [1, 2, 5] : [1], result = [];
    for (let p = Math.floor(Math.log10(low)); p <= Math.ceil(Math.log10(high)); p++)
      for (const f of factors) if (f * 10 ** p >= low * 0.999 && f * 10 ** p <= high * 1.001) result.push(f * 10 ** p);
    const skip = Math.ceil(result.length / 8);
    return result.filter((_, k) => k % skip === 0);
  }

  function scale(low, high, from, to, log) {
    const f = log ? Math.log : v => v;
    const a = f(low), b = f(high);
    return v => from + (to - from) * (f(v) - a) / (b - a);
  }

  class Plot {
    constructor(figure) {
      this.data = JSON.parse(figure.querySelector("script").textContent);
      this.hidden = new Set();
      this.panel = 0;
      if (this.data.panels.length > 1) this.addTabs(figure);
      this.stage = make(figure, "div", { class: "stage" });
      this.legend = make(figure, "div", { class: "legend" });
      this.tip = make(this.stage, "div", { class: "tip" });
      this.width = 0;
      new ResizeObserver(() => { if (this.stage.clientWidth !== this.width) this.draw(); }).observe(this.stage);
      this.draw();
    }

    addTabs(figure) {
      const bar = make(figure, "div", { class: "tabs", role: "tablist" });
      this.data.panels.forEach((panel, k) => {
        const tab = make(bar, "button", { role: "tab", type: "button", "aria-selected": k === 0 }, panel.name);
        tab.onclick = () => {
          bar.querySelectorAll("button").forEach((other, i) => other.setAttribute("aria-selected", i === k));
          this.panel = k;
          this.draw();
        };
      });
    }

    get series() {
      return this.data.panels[this.panel].series.map((s, k) => ({ colour: k % 8, style: "", ...s, x: s.x || this.data.x }));
    }

    get visible() { return this.series.filter(s => !this.hidden.has(s.name)); }

    range(values, log, padding) {
      let low = Infinity, high = -Infinity;
      for (const v of values) if (v !== null && (!log || v > 0)) { low = Math.min(low, v); high = Math.max(high, v); }
      if (low === Infinity) [low, high] = log ? [0.1, 1] : [-1, 1];
      if (log) return [low / (1 + 4 * padding), high * (1 + 4 * padding)];
      if (low === high) { low -= Math.abs(low) * 0.1 || 1; high += Math.abs(high) * 0.1 || 1; }
      return [low - padding * (high - low), high + padding * (high - low)];
    }

    draw() {
      const { xlog, ylog } = this.data, shown = this.visible;
      this.width = Math.max(this.stage.clientWidth, 240);
      this.height = Math.max(210, Math.min(330, 0.42 * this.width));
      const [x0, x1] = this.range(this.series.flatMap(s => s.x), xlog, this.data.points ? 0.05 : 0);
      const [y0, y1] = this.range(shown.flatMap(s => s.y), ylog, 0.06);
      this.sx = scale(x0, x1, MARGIN.left, this.width - MARGIN.right, xlog);
      this.sy = scale(y0, y1, this.height - MARGIN.bottom, MARGIN.top, ylog);
      if (this.svg) this.svg.remove();
      this.svg = make(null, "svg:svg", { height: this.height, viewBox: `0 0 ${this.width} ${this.height}`, role: "img", tabindex: 0 });
      this.svg.setAttribute("aria-label", `${this.data.ylabel} over ${this.data.xlabel}`);
      this.stage.prepend(this.svg);
      this.axes(xlog ? logTicks(x0, x1) : ticks(x0, x1, this.width < 480 ? 6 : 9), ylog ? logTicks(y0, y1) : ticks(y0, y1, 5));
      shown.forEach(s => this.curve(s));
      this.cursor = make(this.svg, "svg:g");
      this.svg.onpointermove = event => this.point(this.nearest(event.clientX - this.svg.getBoundingClientRect().left));
      this.svg.onpointerleave = this.svg.onblur = () => this.leave();
      this.svg.onkeydown = event => {
        const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
        if (step) { event.preventDefault(); this.point((this.at ?? -1) + step); }
      };
      this.drawLegend();
    }

    axes(xs, ys) {
      const right = this.width - MARGIN.right, bottom = this.height - MARGIN.bottom;
      for (const y of ys) {
        make(this.svg, "svg:line", { class: y === 0 ? "zero" : "grid", x1: MARGIN.left, x2: right, y1: this.sy(y), y2: this.sy(y) });
        make(this.svg, "svg:text", { x: MARGIN.left - 8, y: this.sy(y) + 4, "text-anchor": "end" }, format(y));
      }
      for (const x of xs) {
        make(this.svg, "svg:line", { class: "grid", x1: this.sx(x), x2: this.sx(x), y1: MARGIN.top, y2: bottom });
        make(this.svg, "svg:text", { x: this.sx(x), y: bottom + 17, "text-anchor": "middle" }, format(x));
      }
      make(this.svg, "svg:text", { x: (MARGIN.left + right) / 2, y: this.height - 5, "text-anchor": "middle" }, this.data.xlabel);
      const middle = (MARGIN.top + bottom) / 2;
      const label = this.data.panels[this.panel].ylabel || this.data.ylabel;
      make(this.svg, "svg:text", { x: 12, y: middle, "text-anchor": "middle", transform: `rotate(-90 12 ${middle})` }, label);
    }

    curve(s) {
      const colour = `var(--s${s.colour})`;
      const usable = k => s.y[k] !== null && (!this.data.ylog || s.y[k] > 0);
      if (s.style !== "points") {
        let path = "", pen = "M";
        s.x.forEach((x, k) => {
          if (!usable(k)) { pen = "M"; return; }
          path += `${pen}${this.sx(x).toFixed(1)} ${this.sy(s.y[k]).toFixed(1)}`;
          pen = "L";
        });
        make(this.svg, "svg:path", { class: `series ${s.style}`, d: path || "M0 0", stroke: colour, "data-name": s.name });
      }
      if (s.style === "points" || this.data.points)
        s.x.forEach((x, k) => {
          if (usable(k)) make(this.svg, "svg:circle", { cx: this.sx(x), cy: this.sy(s.y[k]), r: 4, fill: colour, "data-name": s.name });
        });
    }

    drawLegend() {
      this.legend.replaceChildren();
      const series = this.series;
      if (series.length < 2) return;
      for (const s of series) {
        const button = make(this.legend, "button", { type: "button", "aria-pressed": !this.hidden.has(s.name) });
        const key = make(button, "svg:svg", { viewBox: "0 0 22 10", "aria-hidden": true });
        const colour = `var(--s${s.colour})`;
        if (s.style === "points") make(key, "svg:circle", { cx: 11, cy: 5, r: 4, fill: colour });
        else make(key, "svg:line", { class: `series ${s.style}`, x1: 1, x2: 21, y1: 5, y2: 5, stroke: colour });
        make(button, "span", {}, s.name);
        button.onclick = () => {
          if (!this.hidden.delete(s.name)) this.hidden.add(s.name);
          const place = series.findIndex(other => other.name === s.name);
          this.draw();
          this.legend.children[place].focus();
        };
      }
    }

    // All abscissas in order: series may have their own.
    get stops() { return [...new Set(this.visible.flatMap(s => s.x))].sort((a, b) => a - b); }

    nearest(pixel) {
      let best = 0;
      const stops = this.stops;
      stops.forEach((x, k) => { if (Math.abs(this.sx(x) - pixel) < Math.abs(this.sx(stops[best]) - pixel)) best = k; });
      return best;
    }

    point(k) {
      const stops = this.stops;
      if (!stops.length) return;
      this.at = Math.max(0, Math.min(stops.length - 1, k));
      const x = stops[this.at], left = this.sx(x);
      this.cursor.replaceChildren();
      make(this.cursor, "svg:line", { class: "cursor", x1: left, x2: left, y1: MARGIN.top, y2: this.height - MARGIN.bottom });
      this.tip.replaceChildren();
      make(this.tip, "div", {}, `${this.data.xlabel}: ${format(x)}`);
      const table = make(this.tip, "table");
      for (const s of this.visible) {
        const i = s.x.indexOf(x);
        if (i < 0 || s.y[i] === null) continue;
        make(this.cursor, "svg:circle", { cx: left, cy: this.sy(s.y[i]), r: 3.5, fill: `var(--s${s.colour})` });
        const row = make(table, "tr"), name = make(row, "td");
        make(name, "span", { class: "swatch", style: `background: var(--s${s.colour})` });
        name.append(s.name);
        make(row, "td", { class: "number" }, format(s.y[i]));
        if (s.notes) make(row, "td", {}, s.notes[i]);
      }
      this.tip.style.display = "block";
      const room = left + 14 + this.tip.offsetWidth < this.width;
      this.tip.style.left = `${room ? left + 14 : Math.max(0, left - 14 - this.tip.offsetWidth)}px`;
      this.tip.style.top = `${MARGIN.top + 4}px`;
    }

    leave() {
      this.at = null;
      this.tip.style.display = "none";
      this.cursor.replaceChildren();
    }
  }

  document.querySelectorAll("figure.plot").forEach(figure => new Plot(figure));
})();
