// A robot in space, drawn by Plotly: forward kinematics from the same transforms as the package, links by their meshes.
(() => {
  "use strict";
  const START = { azimuth: -0.9, elevation: 0.35 };
  const ROUND = 14, RINGS = 9; // corners of an ellipsoid around and along

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

  const columns = points => ({ x: points.map(p => p[0]), y: points.map(p => p[1]), z: points.map(p => p[2]) });
  const times = (T, x, y, z) => [0, 1, 2].map(i => T[4 * i] * x + T[4 * i + 1] * y + T[4 * i + 2] * z + T[4 * i + 3]);

  // 16-bit steps of a box, in base64, as corners in the link's frame.
  function unpacked(mesh) {
    const words = text => new Uint16Array(Uint8Array.from(atob(text), c => c.charCodeAt(0)).buffer);
    const steps = words(mesh.vertices), faces = words(mesh.faces), count = steps.length / 3;
    const corner = k => [0, 1, 2].map(i => mesh.low[i] + mesh.size[i] * steps[3 * k + i] / 65535);
    const column = i => Array.from({ length: faces.length / 3 }, (_, k) => faces[3 * k + i]);
    return { ...mesh, corners: Array.from({ length: count }, (_, k) => corner(k)), i: column(0), j: column(1), k: column(2) };
  }

  // The unit sphere as corners and triangles, ring by ring.
  const sphere = (() => {
    const corners = [], triangles = [];
    for (let ring = 0; ring <= RINGS; ring++)
      for (let k = 0; k < ROUND; k++) {
        const theta = Math.PI * ring / RINGS, phi = 2 * Math.PI * k / ROUND;
        corners.push([Math.sin(theta) * Math.cos(phi), Math.sin(theta) * Math.sin(phi), Math.cos(theta)]);
        const here = ring * ROUND + k, beside = ring * ROUND + (k + 1) % ROUND;
        if (ring < RINGS) triangles.push([here, beside, here + ROUND], [beside, beside + ROUND, here + ROUND]);
      }
    return { corners, triangles };
  })();

  class RobotView {
    constructor(figure) {
      this.figure = figure;
      this.data = JSON.parse(figure.querySelector("script").textContent);
      this.meshes = this.data.meshes.map(unpacked);
      this.stage = figure.querySelector(".stage");
      this.sliders = [...figure.querySelectorAll("input[type=range]")];
      // As near as the robot at home allows; a cube of most postures is far larger.
      this.camera = { ...START, distance: Math.max(0.6, Math.min(1.5, 0.2 + this.data.extent / this.data.reach)) };
      this.masses = figure.querySelector(".masses");
      this.ellipsoids = figure.querySelector(".ellipsoids");
      [this.masses, this.ellipsoids].forEach(box => { box.onchange = () => this.draw(); });
      this.playing = null;
      this.sliders.forEach(slider => { slider.oninput = () => { this.stop(); this.moved(); }; });
      figure.querySelector(".zero").onclick = () => { this.stop(); this.set(this.data.home); };
      figure.querySelector(".play").onclick = () => (this.playing === null ? this.play() : this.stop());
      this.stage.onkeydown = event => this.key(event);
      this.draw();
      Look.drawers.push(() => this.draw());
    }

    get q() { return this.sliders.map(slider => Number(slider.value)); }

    set(q) {
      this.sliders.forEach((slider, k) => { slider.value = q[k]; });
      this.moved();
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

    // x, y, z of everything that moves, in the order of the traces behind the floor.
    places(placed) {
      const on = link => (link < 0 ? IDENTITY : placed[link]), tip = placed[placed.length - 1];
      const meshes = this.meshes.map(mesh => { const T = on(mesh.link); return mesh.corners.map(p => times(T, ...p)); });
      return [...meshes, ...this.sticks(placed, on), ...this.inertias(on), ...[0, 1, 2].map(axis => [origin(tip), along(tip, axis, 0.1 * this.data.reach)])];
    }

    // Centres of mass, and corners of all ellipsoids.
    inertias(on) {
      const { bodies } = this.data;
      const corner = (T, { com, axes }, u) => times(T, ...[0, 1, 2].map(i => com[i] + axes[i][0] * u[0] + axes[i][1] * u[1] + axes[i][2] * u[2]));
      return [bodies.map(body => times(on(body.link), ...body.com)), bodies.flatMap(body => sphere.corners.map(u => corner(on(body.link), body, u)))];
    }

    // Bodies and joints as lines, where no mesh shows the link.
    sticks(placed, on) {
      const seen = new Set(this.meshes.map(mesh => mesh.link));
      const { joints, tool, reach } = this.data, GAP = [null, null, null], half = 0.04 * reach;
      const ends = [...joints.map((joint, i) => [joint.parent, placed[i]]), [tool.link, placed[placed.length - 1]]];
      const bodies = ends.flatMap(([parent, T]) => (seen.has(parent) ? [] : [origin(on(parent)), origin(T), GAP]));
      const axes = turning => joints.flatMap((joint, i) =>
        (!seen.has(i) && Boolean(joint.screw[0]) === turning ? [along(placed[i], 2, -half), along(placed[i], 2, half), GAP] : []));
      return [bodies, axes(true), axes(false)];
    }

    traces() {
      const line = (name, colour, width) => ({ type: "scatter3d", mode: "lines", name, hoverinfo: "skip", line: { color: Look.colour(colour), width } });
      // small triangles have normals too: the defaults are for scenes of metres
      const light = { ambient: 0.5, diffuse: 0.75, specular: 0.15, roughness: 0.6, fresnel: 0.05, vertexnormalsepsilon: 1e-20, facenormalsepsilon: 1e-20 };
      const meshes = this.meshes.map(({ colour, i, j, k, link }) => ({
        type: "mesh3d", color: colour, i, j, k, flatshading: true, opacity: this.masses.checked || this.ellipsoids.checked ? 0.35 : 1, lighting: light, lightposition: { x: 1e4, y: -2e4, z: 3e4 },
        hoverinfo: "text", text: Look.plain(this.data.links[link + 1]),
      }));
      const sticks = [line("links", "link-body", 14), line("turns", "accent", 22), line("slides", "s1", 22)];
      return [...meshes, ...sticks, ...this.inertiaTraces(light), line("x", "s5", 6), line("y", "s2", 6), line("z", "s0", 6)];
    }

    inertiaTraces(lighting) {
      const { bodies, links } = this.data, faces = bodies.flatMap((_, b) => sphere.triangles.map(t => t.map(k => k + b * sphere.corners.length)));
      const [i, j, k] = [0, 1, 2].map(c => faces.map(face => face[c]));
      const words = bodies.map(body => Look.plain(`${links[body.link + 1]}: ${body.mass.toPrecision(4)} kg`));
      const marker = { color: Look.colour("s1"), size: 7, line: { color: Look.colour("ink"), width: 1 } };
      return [
        { type: "scatter3d", mode: "markers", name: "centres of mass", marker, text: words, hoverinfo: "text", visible: this.masses.checked },
        { type: "mesh3d", name: "inertia ellipsoids", color: Look.colour("s2"), i, j, k, opacity: 0.6, lighting, hoverinfo: "skip", visible: this.ellipsoids.checked },
      ];
    }

    floor() {
      const { grid, low, high, floor: z } = this.data, [[x0, y0], [x1, y1]] = [low, high], lines = [];
      const from = (a, b) => Array.from({ length: Math.floor((b - a) / grid) + 1 }, (_, k) => Math.ceil(a / grid) * grid + k * grid).filter(v => v <= b);
      from(x0, x1).forEach(x => lines.push([x, y0, z], [x, y1, z], [null, null, null]));
      from(y0, y1).forEach(y => lines.push([x0, y, z], [x1, y, z], [null, null, null]));
      return { type: "scatter3d", mode: "lines", name: "floor", hoverinfo: "skip", line: { color: Look.colour("line"), width: 1 }, ...columns(lines) };
    }

    draw() {
      const { low, high } = this.data, hidden = { visible: false };
      const axis = k => ({ ...hidden, range: [low[k], high[k]] });
      const traces = [this.floor(), ...this.traces()];
      this.places(this.tell()).forEach((points, k) => Object.assign(traces[k + 1], columns(points)));
      const scene = { aspectmode: "cube", xaxis: axis(0), yaxis: axis(1), zaxis: axis(2), dragmode: "turntable", camera: this.view() };
      const layout = { ...Look.layout({ scene, showlegend: false, margin: { l: 0, r: 0, t: 0, b: 0 } }), uirevision: "kept" };
      Plotly.react(this.stage, traces, layout, { ...Look.config, displayModeBar: false }).then(() => { this.figure.dataset.drawn = "yes"; });
    }

    // The page's own words about a posture; tests and readers compare them with the package.
    tell() {
      const q = this.q, placed = this.placements(q), places = placed.map(origin);
      this.sliders.forEach((slider, k) => {
        const { isAngle } = this.data.coordinates[k];
        slider.previousElementSibling.value = isAngle ? `${(q[k] * 180 / Math.PI).toFixed(1)}°` : `${(q[k] * 1000).toFixed(0)} mm`;
      });
      this.figure.dataset.origins = JSON.stringify(places.map(p => p.map(v => Number(v.toFixed(9)))));
      this.figure.querySelector(".tool output").value = places[places.length - 1].map(v => v.toFixed(3)).join("  ");
      return placed;
    }

    moved() {
      const points = this.places(this.tell()).map(columns);
      const change = { x: points.map(p => p.x), y: points.map(p => p.y), z: points.map(p => p.z) };
      return Plotly.restyle(this.stage, change, points.map((_, k) => k + 1));
    }

    view() {
      const { azimuth, elevation, distance } = this.camera, flat = distance * Math.cos(elevation);
      // Plotly's camera measures in edges of the cube, from its middle.
      const { low, high, centre } = this.data, [x, y, z] = [0, 1, 2].map(k => (centre[k] - low[k]) / (high[k] - low[k]) - 0.5);
      const eye = { x: x - flat * Math.sin(azimuth), y: y - flat * Math.cos(azimuth), z: z + distance * Math.sin(elevation) };
      return { eye, center: { x, y, z } };
    }

    key(event) {
      const turn = { ArrowLeft: [0.1, 0], ArrowRight: [-0.1, 0], ArrowUp: [0, 0.1], ArrowDown: [0, -0.1] }[event.key];
      const factor = { "+": 1 / 1.15, "=": 1 / 1.15, "-": 1.15 }[event.key] ?? 1;
      if (!turn && factor === 1) return;
      event.preventDefault();
      this.camera.azimuth += turn?.[0] ?? 0;
      this.camera.elevation = Math.max(-1.5, Math.min(1.5, this.camera.elevation + (turn?.[1] ?? 0)));
      this.camera.distance = Math.max(0.4, Math.min(6, this.camera.distance * factor));
      Plotly.relayout(this.stage, { "scene.camera": this.view() });
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
      this.figure.querySelector(".play").textContent = "Play";
    }
  }

  const views = [...document.querySelectorAll("figure.robot-view")].map(figure => new RobotView(figure));
  // Printers get a picture: what a graphics card draws does not reach the paper.
  addEventListener("beforeprint", () => views.forEach(view => {
    const scene = view.stage._fullLayout?.scene?._scene;
    if (scene) view.figure.querySelector(".printed").src = scene.toImage("png");
  }));
})();
