// A stick view of a robot: forward kinematics from the same transforms as the package, turned with the pointer.
(() => {
  "use strict";
  const SVG = "http://www.w3.org/2000/svg";
  const START = { azimuth: -0.9, elevation: 0.42 };

  // Transforms are 12 numbers, the rows of [R | p].
  function compose(a, b) {
    const c = new Array(12);
    for (let i = 0; i < 3; i++)
      for (let j = 0; j < 4; j++)
        c[4 * i + j] = a[4 * i] * b[j] + a[4 * i + 1] * b[4 + j] + a[4 * i + 2] * b[8 + j] + (j === 3 ? a[4 * i + 3] : 0);
    return c;
  }

  // A turn about z and a shift along z.
  function moved([about, along], q) {
    const c = Math.cos(about * q), s = Math.sin(about * q);
    return [c, -s, 0, 0, s, c, 0, 0, 0, 0, 1, along * q];
  }

  const IDENTITY = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0];
  const origin = T => [T[3], T[7], T[11]];
  const along = (T, axis, length) => [0, 1, 2].map(i => T[4 * i + 3] + length * T[4 * i + axis]);

  const distance = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);

  // The smallest ball that holds a ball and further points, one after the other.
  function grown({ centre, radius }, points) {
    for (const point of points) {
      const away = distance(point, centre);
      if (away <= radius) continue;
      const step = (away - radius) / 2 / away;
      centre = centre.map((c, k) => c + step * (point[k] - c));
      radius = (radius + away) / 2;
    }
    return { centre, radius };
  }

  class RobotView {
    constructor(figure) {
      this.figure = figure;
      this.data = JSON.parse(figure.querySelector("script").textContent);
      this.svg = figure.querySelector("svg");
      this.sliders = [...figure.querySelectorAll("input[type=range]")];
      this.camera = { ...START };
      this.magnified = 1;
      this.playing = null;
      this.home = this.homeBall();
      this.ball = this.home;
      this.sliders.forEach(slider => { slider.oninput = () => { this.stop(); this.draw(); }; });
      figure.querySelector(".zero").onclick = () => { this.stop(); this.ball = this.home; this.set(this.data.home); };
      figure.querySelector(".play").onclick = () => (this.playing === null ? this.play() : this.stop());
      this.followPointer();
      new ResizeObserver(() => this.draw()).observe(this.svg);
      this.draw();
    }

    get q() { return this.sliders.map(slider => Number(slider.value)); }

    set(q) {
      this.sliders.forEach((slider, k) => { slider.value = q[k]; });
      this.draw();
    }

    // Placements of all links, then of the tool.
    placements(q) {
      const placed = [];
      this.data.joints.forEach((joint, i) => {
        const angle = this.data.F ? this.data.F[i].reduce((sum, f, k) => sum + f * q[k], this.data.offset[i]) : q[i];
        const parent = joint.parent < 0 ? IDENTITY : placed[joint.parent];
        placed.push(compose(compose(parent, joint.placement), moved(joint.screw, angle)));
      });
      const { link, placement } = this.data.tool;
      placed.push(compose(link < 0 ? IDENTITY : placed[link], placement));
      return placed;
    }

    // What the view holds at first; a folded arm is still seen in proportion to its reach.
    homeBall() {
      const places = [[0, 0, 0], ...this.placements(this.data.home).map(origin)];
      const ends = [0, 1, 2].map(k => [Math.min(...places.map(p => p[k])), Math.max(...places.map(p => p[k]))]);
      this.lowest = Math.min(0, ends[2][0]);
      return grown({ centre: ends.map(([low, high]) => (low + high) / 2), radius: 0.45 * this.data.reach }, places);
    }

    project([x, y, z]) {
      const { azimuth, elevation } = this.camera, [cx, cy, cz] = this.ball.centre;
      const ca = Math.cos(azimuth), sa = Math.sin(azimuth), ce = Math.cos(elevation), se = Math.sin(elevation);
      const dx = x - cx, dy = y - cy, dz = z - cz;
      const right = ca * dx + sa * dy, ahead = -sa * dx + ca * dy;
      const depth = ce * ahead - se * dz, up = se * ahead + ce * dz;
      const near = 5 / Math.max(1, 5 + depth / this.ball.radius);
      return { x: this.middle[0] + this.zoom * near * right, y: this.middle[1] - this.zoom * near * up, depth };
    }

    draw() {
      const q = this.q, width = this.svg.clientWidth, height = this.svg.clientHeight;
      this.sliders.forEach((slider, k) => {
        const { isAngle } = this.data.coordinates[k];
        slider.previousElementSibling.value = isAngle ? `${(q[k] * 180 / Math.PI).toFixed(1)}°` : `${(q[k] * 1000).toFixed(0)} mm`;
      });
      const placed = this.placements(q), places = placed.map(origin);
      this.figure.dataset.origins = JSON.stringify(places.map(p => p.map(v => Number(v.toFixed(9)))));
      this.figure.querySelector(".tool output").value = places[places.length - 1].map(v => v.toFixed(3)).join("  ");
      if (!width) return;
      this.middle = [width / 2, height / 2];
      this.ball = grown(this.ball, places);
      this.zoom = 0.43 * this.magnified * Math.min(width, height) / this.ball.radius;
      this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
      this.svg.replaceChildren();
      this.floor();
      const parts = [...this.bodies(placed, places), ...this.joints(placed)];
      parts.sort((a, b) => b.depth - a.depth).forEach(part => this.line(part));
      this.triad(placed[placed.length - 1]);
    }

    floor() {
      const step = this.data.grid, count = Math.ceil(this.data.reach / step), z = this.lowest;
      for (let k = -count; k <= count; k++) {
        this.line({ from: [k * step, -count * step, z], to: [k * step, count * step, z], kind: "floor" });
        this.line({ from: [-count * step, k * step, z], to: [count * step, k * step, z], kind: "floor" });
      }
    }

    bodies(placed, places) {
      const parts = this.data.joints.map((joint, i) => this.part(joint.parent < 0 ? [0, 0, 0] : places[joint.parent], places[i], joint.parent < 0 ? "foot" : "body"));
      const { link } = this.data.tool;
      parts.push(this.part(link < 0 ? [0, 0, 0] : places[link], places[places.length - 1], "body"));
      return parts;
    }

    joints(placed) {
      const half = 0.05 * this.home.radius;
      return this.data.joints.map((joint, i) => ({
        ...this.part(along(placed[i], 2, -half), along(placed[i], 2, half), joint.screw[0] ? "turning" : "sliding"),
      }));
    }

    part(from, to, kind) {
      return { from, to, kind, depth: (this.project(from).depth + this.project(to).depth) / 2 };
    }

    triad(T) {
      [5, 2, 0].forEach((colour, axis) => {
        const line = this.line({ from: origin(T), to: along(T, axis, 0.12 * this.home.radius), kind: "axis" });
        line.setAttribute("stroke", `var(--s${colour})`);
      });
    }

    line({ from, to, kind }) {
      const a = this.project(from), b = this.project(to), line = document.createElementNS(SVG, "line");
      line.setAttribute("class", kind);
      for (const [name, value] of [["x1", a.x], ["y1", a.y], ["x2", b.x], ["y2", b.y]]) line.setAttribute(name, value.toFixed(2));
      return this.svg.appendChild(line);
    }

    followPointer() {
      let last = null;
      this.svg.onpointerdown = event => { last = [event.clientX, event.clientY]; this.svg.setPointerCapture(event.pointerId); };
      this.svg.onpointerup = this.svg.onpointercancel = () => { last = null; };
      this.svg.onpointermove = event => {
        if (!last) return;
        this.turn(0.009 * (last[0] - event.clientX), 0.009 * (event.clientY - last[1]));
        last = [event.clientX, event.clientY];
      };
      this.svg.ondblclick = () => { this.camera = { ...START }; this.magnified = 1; this.ball = this.home; this.draw(); };
      // The plain wheel scrolls the page; with Control, as a pinch sends it, it magnifies.
      this.svg.onwheel = event => { if (event.ctrlKey) { event.preventDefault(); this.magnify(Math.exp(-0.01 * event.deltaY)); } };
      this.svg.onkeydown = event => {
        const factor = { "+": 1.15, "=": 1.15, "-": 1 / 1.15 }[event.key];
        if (factor) this.magnify(factor);
        const step = { ArrowLeft: [0.1, 0], ArrowRight: [-0.1, 0], ArrowUp: [0, 0.1], ArrowDown: [0, -0.1] }[event.key];
        if (step) { event.preventDefault(); this.turn(...step); }
      };
    }

    turn(azimuth, elevation) {
      this.camera.azimuth += azimuth;
      this.camera.elevation = Math.max(-1.5, Math.min(1.5, this.camera.elevation + elevation));
      this.draw();
    }

    magnify(factor) {
      this.magnified = Math.max(0.3, Math.min(8, this.magnified * factor));
      this.draw();
    }

    play() {
      const { t, q } = this.data.motion, start = performance.now(), end = t[t.length - 1];
      this.figure.querySelector(".play").textContent = "Stop";
      const frame = now => {
        const time = (Math.max(0, now - start) / 1000) % end; // a frame's time may lie before the click
        const k = Math.min(t.length - 2, Math.floor((t.length - 1) * time / end)), part = (time - t[k]) / (t[k + 1] - t[k]);
        this.set(q[k].map((value, j) => value + part * (q[k + 1][j] - value)));
        this.playing = requestAnimationFrame(frame);
      };
      this.playing = requestAnimationFrame(frame);
    }

    stop() {
      if (this.playing !== null) cancelAnimationFrame(this.playing);
      this.playing = null;
      this.figure.querySelector(".play").textContent = "Play the motion";
    }
  }

  document.querySelectorAll("figure.robot-view").forEach(figure => new RobotView(figure));
})();
