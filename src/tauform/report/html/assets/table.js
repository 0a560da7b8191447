// Tables: rows become blocks where columns would hide; those of data are sorted, filtered and saved as CSV.
(() => {
  "use strict";
  const text = cell => cell.textContent.trim();
  const number = cell => Number(text(cell).replace(/^> /, "").replace("–", "NaN"));

  function sort(table, column, heading) {
    const down = heading.ariaSort === "ascending";
    table.querySelectorAll("th").forEach(th => { th.ariaSort = null; });
    heading.ariaSort = down ? "descending" : "ascending";
    const numeric = heading.classList.contains("number"), rows = [...table.tBodies[0].rows];
    const key = row => (numeric ? number(row.cells[column]) : text(row.cells[column]));
    const order = numeric
      ? (a, b) => (isNaN(a) - isNaN(b)) || (down ? b - a : a - b)
      : (a, b) => (down ? -1 : 1) * a.localeCompare(b, undefined, { numeric: true });
    table.tBodies[0].append(...rows.sort((a, b) => order(key(a), key(b))));
  }

  function csv(table) {
    const quoted = cell => `"${text(cell).replaceAll('"', '""')}"`;
    return [...table.rows].filter(row => !row.hidden).map(row => [...row.cells].map(quoted).join(",")).join("\r\n") + "\r\n";
  }

  // Measured as a table each time: a wider window has room for columns again.
  function fit(box) {
    box.classList.remove("stacked");
    box.classList.toggle("stacked", box.scrollWidth > box.clientWidth + 1);
  }

  const widths = new Map(), boxes = [...document.querySelectorAll(".wide")];
  const watcher = new ResizeObserver(entries => {
    // Blocks change the height, which is no reason to measure again.
    for (const { target } of entries)
      if (widths.get(target) !== target.clientWidth) { widths.set(target, target.clientWidth); fit(target); }
  });
  boxes.forEach(box => watcher.observe(box));
  // Paper is as wide as a laptop's window, at a smaller size of letters.
  addEventListener("beforeprint", () => boxes.forEach(box => box.classList.remove("stacked")));
  addEventListener("afterprint", () => boxes.forEach(fit));

  for (const box of document.querySelectorAll(".data")) {
    const table = box.querySelector("table"), filter = box.querySelector("input"), save = box.querySelector("a");
    table.querySelectorAll("th button").forEach((button, k) => { button.onclick = () => sort(table, k, button.parentElement); });
    filter.oninput = () => {
      const word = filter.value.toLowerCase();
      for (const row of table.tBodies[0].rows) row.hidden = !row.textContent.toLowerCase().includes(word);
    };
    save.onclick = () => { save.href = "data:text/csv;charset=utf-8," + encodeURIComponent(csv(table)); };
  }
})();
