// The viewer of episodes: a list of all of them, filtered and sorted here, and one episode with its transcript.
// Whatever came from a record is put in as text, never as markup. What is wanted stands in the address behind the #.
const ROWS = 100;

const COLUMNS = [
  ["agent", "Agent", "word"], ["scenario", "Scenario", "word"], ["world", "World", "word"], ["role", "Role", "word"],
  ["seed", "Seed", "number"], ["attempt", "Attempt", "number"], ["outcome", "Outcome", "word"],
  ["verdict", "Verdict of its attempt", "word"], ["score", "Score", "number"], ["reward", "Reward", "number"],
  ["commands", "Commands", "number"], ["seconds", "Seconds", "number"], ["harms", "Harms", "number"],
];
const FILTERS = ["agent", "scenario", "role", "verdict", "outcome"];
let all, order = [], page = 0, wanted = {}, opener = null;
const word = (name, row) => all.words[name].names[all.words[name].codes[row]];
const idOf = (row) => all.ids.slice(row * all.idLength, (row + 1) * all.idLength);
const number = (value) => (value === null ? "–" : String(Math.round(value * 1000) / 1000).replace("-", "−"));
// An id may be given by its beginning, or in full where here its beginning is enough.
const rowOf = (id) => {
  for (let row = 0; row < all.count; row += 1) if (id.startsWith(idOf(row)) || idOf(row).startsWith(id)) return row;
  return undefined;
};
const value = ([name, , kind], row) => (kind === "word" ? word(name, row) : all.numbers[name][row]);
const read = () => Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
const address = (change) => {
  const next = Object.entries({ ...wanted, ...change }).filter(([, text]) => text);
  return `#${new URLSearchParams(next)}`;
};
const choose = () => {
  const codes = FILTERS.filter((name) => wanted[name]).map((name) => {
    const { codes: column, names } = all.words[name];
    return [column, names.indexOf(wanted[name])];
  });
  const words = (wanted.q ?? "").toLowerCase().split(/\s+/).filter(Boolean);
  const names = ["agent", "scenario", "world", "role", "verdict", "outcome"];
  const hits = (name, text) => new Set(
    all.words[name].names.flatMap((each, code) => (each.toLowerCase().includes(text) ? [code] : [])),
  );
  const fits = words.map((text) => names.map((name) => [all.words[name].codes, hits(name, text)]));
  order = [];
  for (let row = 0; row < all.count; row += 1) {
    if (!codes.every(([column, code]) => column[row] === code)) continue;
    const said = (any, place) => any.some(([column, found]) => found.has(column[row])) || idOf(row).startsWith(words[place]);
    if (fits.every(said)) order.push(row);
  }
  const [, name, up] = /^(\w+)\.(up|down)$/.exec(wanted.sort ?? "") ?? [];
  const column = COLUMNS.find(([each]) => each === name);
  if (!column) return;
  const sign = up === "up" ? 1 : -1;
  const rank = column[2] === "word" ? (() => {
    const { names: texts, codes: coded } = all.words[name];
    const sorted = texts.map((_, code) => code).sort((a, b) => texts[a].localeCompare(texts[b], "en", { numeric: true }));
    const places = new Map(sorted.map((code, place) => [code, place]));
    return (row) => places.get(coded[row]);
  })() : (row) => all.numbers[name][row];
  order.sort((a, b) => {
    const [first, second] = [rank(a), rank(b)];
    if (first === null || second === null) return (first === null) - (second === null) || a - b;
    return sign * (first - second) || a - b;
  });
};
const verdictMark = (text) => make("span", { class: `verdict v-${text}` }, text);
const show = () => {
  const pages = Math.max(1, Math.ceil(order.length / ROWS));
  page = Math.min(page, pages - 1);
  const table = $("episodes");
  table.tHead.rows[0].replaceChildren(...COLUMNS.map(([name, title, kind]) => {
    const [, by, way] = /^(\w+)\.(up|down)$/.exec(wanted.sort ?? "") ?? [];
    const button = make("button", { type: "button" }, title);
    const first = kind === "word" ? "up" : "down";
    button.addEventListener("click", () => {
      const next = by === name && way === first ? (first === "up" ? "down" : "up") : first;
      page = 0;
      location.hash = address({ sort: `${name}.${next}` });
      $("episodes").tHead.querySelector(`.c-${name} button`).focus();
    });
    const sorted = by !== name ? "none" : way === "up" ? "ascending" : "descending";
    return make("th", { scope: "col", class: `${kind === "word" ? "text" : "number"} c-${name}`, "aria-sort": sorted }, button);
  }));
  const cell = (row) => (column) => {
    const [name, , kind] = column;
    const text = kind === "word" ? value(column, row) : number(value(column, row));
    if (name === "agent") {
      const link = make("a", { href: address({ e: idOf(row) }), id: `row-${idOf(row)}` }, text);
      return make("th", { scope: "row", class: "name c-agent" }, link);
    }
    const shown = name === "verdict" ? verdictMark(text) : text;
    return make("td", { class: `${kind === "word" ? "text" : "number"} c-${name}` }, shown);
  };
  const rows = order.slice(page * ROWS, (page + 1) * ROWS).map((row) => make("tr", {}, ...COLUMNS.map(cell(row))));
  table.tBodies[0].replaceChildren(...rows);
  table.hidden = false;
  $("filters").hidden = false;
  const count = (amount) => amount.toLocaleString("en");
  const some = order.length === all.count ? "" : `${count(order.length)} of `;
  $("told").textContent = `${some}${count(all.count)} episodes`;
  document.querySelector(".pager").hidden = pages < 2;
  $("where").textContent = `Page ${count(page + 1)} of ${count(pages)}`;
  $("back").disabled = page === 0;
  $("on").disabled = page === pages - 1;
};
const turn = (by) => { page += by; show(); $("list-title").scrollIntoView(); };

// -- from the address to what is shown
let told = "";
const follow = async () => {
  wanted = read();
  const { e: open, ...rest } = wanted;
  const filters = JSON.stringify(rest);
  if (filters !== told) { if (told) page = 0; told = filters; choose(); }
  for (const name of FILTERS) $(`f-${name}`).value = wanted[name] ?? "";
  if ($("f-q").value !== (wanted.q ?? "")) $("f-q").value = wanted.q ?? "";
  const row = open ? rowOf(open) : undefined;
  if (open && row !== undefined) {
    opener = idOf(row);
    const record = await recordOf(row);
    if (read().e !== open) return; // somebody went on before it was there
    $("episode").replaceChildren(...episodeView(row, record));
    document.title = `${word("agent", row)} at ${word("scenario", row)} · breakfix`;
    $("list").hidden = true;
    $("episode").hidden = false;
    scrollTo(0, 0);
    $("episode-title").focus({ preventScroll: true });
    return;
  }
  document.title = "Episodes · breakfix";
  $("episode").hidden = true;
  $("list").hidden = false;
  show();
  if (opener) { $(`row-${opener}`)?.focus(); opener = null; }
  if (open) $("told").textContent = `There is no episode ${fit(open)} here. ${$("told").textContent}`;
};
const start = async () => {
  all = await part("episodes");
  for (const name of FILTERS) {
    const names = [...all.words[name].names];
    if (name !== "agent" && name !== "scenario") names.sort();
    $(`f-${name}`).append(make("option", { value: "" }, "all"), ...names.map((text) => make("option", { value: text }, text)));
    $(`f-${name}`).addEventListener("change", (event) => { location.hash = address({ [name]: event.target.value }); });
  }
  let wait;
  $("f-q").addEventListener("input", (event) => {
    clearTimeout(wait);
    wait = setTimeout(() => { location.hash = address({ q: event.target.value }); }, 150);
  });
  $("filters").addEventListener("submit", (event) => event.preventDefault());
  $("clear").addEventListener("click", () => { location.hash = ""; });
  $("back").addEventListener("click", () => turn(-1));
  $("on").addEventListener("click", () => turn(1));
  addEventListener("hashchange", () => follow().catch(complain));
  await follow();
};
const complain = (error) => { $("list").hidden = false; $("told").textContent = `The episodes cannot be shown: ${error.message}`; };
start().catch(complain);
