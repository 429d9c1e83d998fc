"use strict";
{
  // Sorting: the heading's button turns first to the order that reads best (figures: high to low), then to the other.
  // Cells without a figure stay last either way; rows that are equal keep the order in which they were printed.
  for (const table of document.querySelectorAll("table:has(thead [data-sort])")) {
    const body = table.tBodies[0];
    const printed = Array.from(body.rows);
    const headings = Array.from(table.tHead.rows[0].cells);
    headings.forEach((heading, column) => {
      heading.querySelector("button").addEventListener("click", () => {
        const numeric = heading.dataset.sort === "number";
        const first = numeric ? "descending" : "ascending";
        const other = numeric ? "ascending" : "descending";
        const order = heading.getAttribute("aria-sort") === first ? other : first;
        headings.forEach((each) => each.setAttribute("aria-sort", each === heading ? order : "none"));
        const sign = order === "ascending" ? 1 : -1;
        const keyed = printed.map((row) => [row.cells[column].dataset.value ?? row.cells[column].textContent.trim(), row]);
        keyed.sort(([a], [b]) => {
          if (a === "" || b === "") return (a === "") - (b === "");
          return sign * (numeric ? a - b : a.localeCompare(b, "en", { numeric: true }));
        });
        body.append(...keyed.map(([, row]) => row));
      });
    });
  }
  // Filtering: every word has to occur somewhere in the row.
  for (const input of document.querySelectorAll("input[data-filters]")) {
    const rows = Array.from(document.querySelectorAll(`#${input.dataset.filters} tbody tr`));
    const texts = rows.map((row) => row.textContent.toLowerCase());
    const told = document.getElementById(input.getAttribute("aria-describedby"));
    input.addEventListener("input", () => {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      rows.forEach((row, index) => {
        row.hidden = !words.every((word) => texts[index].includes(word));
        shown += row.hidden ? 0 : 1;
      });
      told.textContent = `${shown} of ${rows.length} rows`;
    });
  }
  // Theme: as the system has it, or light, or dark; remembered where the browser lets a page remember.
  const themes = ["system", "light", "dark"];
  const button = document.getElementById("theme");
  let theme = "system";
  try { theme = localStorage.getItem("breakfix-theme") ?? "system"; } catch { /* a file: page may have no storage */ }
  const apply = () => {
    if (!themes.includes(theme)) theme = "system";
    if (theme === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    button.textContent = `Theme: ${theme}`;
  };
  button.addEventListener("click", () => {
    theme = themes[(themes.indexOf(theme) + 1) % themes.length];
    try { localStorage.setItem("breakfix-theme", theme); } catch { /* then only for this visit */ }
    apply();
  });
  button.hidden = false;
  apply();
}
