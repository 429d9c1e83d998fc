// The viewer of episodes: a list of all of them, filtered and sorted here, and one episode with its transcript.
// Whatever came from a record is put in as text, never as markup. What is wanted stands in the address behind the #.
const ROWS = 100;
const $ = (id) => document.getElementById(id);
const make = (tag, attributes = {}, ...children) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) if (value !== null) element.setAttribute(name, value);
  element.append(...children.filter((child) => child !== null && child !== ""));
  return element;
};

// -- parts: scripts of one call, breakfix("NAME", "TEXT"), that hold deflated JSON
const awaited = new Map();
const loaded = new Map();
window.breakfix = (name, text) => awaited.get(name)?.(text);
const inflate = async (text) => {
  const raw = atob(text);
  const bytes = new Uint8Array(raw.length);
  for (let at = 0; at < raw.length; at += 1) bytes[at] = raw.charCodeAt(at);
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).json();
};
const part = (name) => {
  if (loaded.has(name)) return loaded.get(name);
  const promise = new Promise((done, failed) => {
    const script = make("script", { src: `data/${name}.js` });
    awaited.set(name, (text) => { awaited.delete(name); script.remove(); inflate(text).then(done, failed); });
    script.onerror = () => failed(new Error(`data/${name}.js is not there`));
    document.head.append(script);
  });
  if (loaded.size > 8) loaded.delete(Array.from(loaded.keys())[1]); // the first is the index
  loaded.set(name, promise);
  return promise;
};

// -- text that may hold anything
const UNFIT = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\ud800-\udfff\ufffe\uffff]/gu;
const fit = (text) => text.replace(UNFIT, (found) => `\\u${found.codePointAt(0).toString(16).padStart(4, "0")}`);
const COLOURS = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];
const LEVELS = [[0, 0, 0], [205, 49, 49], [13, 188, 121], [229, 229, 16], [36, 114, 200], [188, 63, 188], [17, 168, 205], [229, 229, 229]];
const nearest = (red, green, blue) => {
  const distance = ([r, g, b]) => (r - red) ** 2 + (g - green) ** 2 + (b - blue) ** 2;
  return LEVELS.map(distance).reduce((best, far, place, all) => (far < all[best] ? place : best), 0);
};
const of256 = (code) => {
  if (code < 16) return code % 8;
  if (code > 231) return nearest(...Array(3).fill(8 + 10 * (code - 232)));
  const step = [0, 95, 135, 175, 215, 255], cube = code - 16;
  return nearest(step[Math.floor(cube / 36)], step[Math.floor(cube / 6) % 6], step[cube % 6]);
};
// Colours are the page's own, so that they stand out in light and dark; backgrounds and hiding are left out, so that
// nothing can be written that is not seen.
const shade = (style, codes) => {
  const rest = codes.length ? [...codes] : [0];
  while (rest.length) {
    const code = rest.shift();
    if (code === 0) { style.bold = style.faint = style.italic = style.under = false; style.colour = null; }
    else if (code === 1) style.bold = true;
    else if (code === 2) style.faint = true;
    else if (code === 3) style.italic = true;
    else if (code === 4) style.under = true;
    else if (code === 22) style.bold = style.faint = false;
    else if (code === 23) style.italic = false;
    else if (code === 24) style.under = false;
    else if (code === 39) style.colour = null;
    else if ((code >= 30 && code <= 37) || (code >= 90 && code <= 97)) style.colour = COLOURS[code % 10];
    else if (code === 38 || code === 48) {
      const way = rest.shift();
      const found = way === 5 ? of256(rest.shift() ?? 0) : way === 2 ? nearest(...[0, 1, 2].map(() => rest.shift() ?? 0)) : null;
      if (code === 38 && found !== null) style.colour = COLOURS[found];
    }
  }
};
// What a terminal would be left showing: colours kept, a carriage return goes back to the line's beginning, a backspace
// takes one back, other sequences move nothing.
const SEQUENCE = /\u001b\[([\d;:]*)m|\u001b\[[0-?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|\u001b[ -/]*[0-~]|\r\n|[\r\n\b]/g;
const terminal = (text) => {
  const style = { bold: false, faint: false, italic: false, under: false, colour: null };
  const done = [];
  let line = [];
  const put = (piece) => {
    if (!piece) return;
    const names = ["bold", "faint", "italic", "under"].filter((name) => style[name]).map((name) => `t-${name}`);
    if (style.colour) names.push(`t-${style.colour}`);
    line.push([names.join(" "), piece]);
  };
  let from = 0;
  for (const found of text.matchAll(SEQUENCE)) {
    put(text.slice(from, found.index));
    from = found.index + found[0].length;
    if (found[1] !== undefined) shade(style, found[1].split(/[;:]/).filter(Boolean).map(Number));
    else if (found[0] === "\n" || found[0] === "\r\n") { done.push(...line, ["", "\n"]); line = []; }
    else if (found[0] === "\r") line = [];
    else if (found[0] === "\b" && line.length) {
      const last = line[line.length - 1];
      last[1] = Array.from(last[1]).slice(0, -1).join("");
      if (!last[1]) line.pop();
    }
  }
  put(text.slice(from));
  const whole = make("pre", { class: "terminal", tabindex: "0" });
  for (const [names, piece] of [...done, ...line]) whole.append(names ? make("span", { class: names }, fit(piece)) : fit(piece));
  return whole;
};

// -- the list
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
const value = ([name, , kind], row) => (kind === "word" ? word(name, row) : all.numbers[name][row]);
const read = () => Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
const address = (change) => {
  const next = Object.entries({ ...wanted, ...change }).filter(([, text]) => text);
  return `#${new URLSearchParams(next)}`;
};
const choose = () => {
  const codes = FILTERS.filter((name) => wanted[name]).map((name) => [all.words[name].codes, all.words[name].names.indexOf(wanted[name])]);
  const words = (wanted.q ?? "").toLowerCase().split(/\s+/).filter(Boolean);
  const names = ["agent", "scenario", "world", "role", "verdict", "outcome"];
  const fits = words.map((text) => names.map((name) => [all.words[name].codes, new Set(all.words[name].names.flatMap((each, code) => (each.toLowerCase().includes(text) ? [code] : [])))]));
  order = [];
  for (let row = 0; row < all.count; row += 1) {
    if (!codes.every(([column, code]) => column[row] === code)) continue;
    if (fits.every((any, place) => any.some(([column, hits]) => hits.has(column[row])) || idOf(row).startsWith(words[place]))) order.push(row);
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
    return make("th", { scope: "col", class: `${kind === "word" ? "text" : "number"} c-${name}`, "aria-sort": by !== name ? "none" : way === "up" ? "ascending" : "descending" }, button);
  }));
  table.tBodies[0].replaceChildren(...order.slice(page * ROWS, (page + 1) * ROWS).map((row) => make("tr", {}, ...COLUMNS.map((column, place) => {
    const shown = value(column, row);
    const text = column[2] === "word" ? shown : number(shown);
    if (place === 0) return make("th", { scope: "row", class: "name c-agent" }, make("a", { href: address({ e: idOf(row) }), id: `row-${idOf(row)}` }, text));
    return make("td", { class: `${column[2] === "word" ? "text" : "number"} c-${column[0]}` }, column[0] === "verdict" ? verdictMark(text) : text);
  }))));
  table.hidden = false;
  $("filters").hidden = false;
  const count = (amount) => amount.toLocaleString("en");
  $("told").textContent = order.length === all.count ? `${count(all.count)} episodes` : `${count(order.length)} of ${count(all.count)} episodes`;
  document.querySelector(".pager").hidden = pages < 2;
  $("where").textContent = `Page ${count(page + 1)} of ${count(pages)}`;
  $("back").disabled = page === 0;
  $("on").disabled = page === pages - 1;
};
const turn = (by) => { page += by; show(); $("list-title").scrollIntoView(); };

// -- one episode
const definition = (rows) => make("dl", { class: "lines" }, ...rows.flatMap(([name, text]) => [make("dt", {}, name), make("dd", {}, ...[text].flat())]));
const section = (title, ...children) => make("section", {}, make("h2", {}, title), ...children);
const rewardChart = (turns) => {
  let sum = 0;
  const points = turns.map((each) => (sum = Math.round((sum + each.reward) * 1e6) / 1e6));
  const low = Math.min(0, ...points), high = Math.max(0, ...points), span = high - low || 1;
  const width = 640, height = 96, x = (at) => 8 + (at * (width - 16)) / Math.max(1, turns.length), y = (at) => height - 10 - ((at - low) * (height - 20)) / span;
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const add = (tag, attributes) => {
    const shape = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, text] of Object.entries(attributes)) shape.setAttribute(name, text);
    svg.append(shape);
    return shape;
  };
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", `Reward along ${turns.length} turns: from 0 to ${number(sum)}, at most ${number(high)}`);
  svg.setAttribute("class", "rewards");
  add("line", { x1: 8, x2: width - 8, y1: y(0), y2: y(0), class: "axis" });
  add("path", { d: points.reduce((path, point, place) => `${path}H${x(place + 1)}V${y(point)}`, `M${x(0)} ${y(0)}`), class: "steps" });
  points.forEach((point, place) => {
    if (!turns[place].reward) return;
    const dot = add("circle", { cx: x(place + 1), cy: y(point), r: 3.5, class: turns[place].reward > 0 ? "gain" : "loss" });
    const title = document.createElementNS("http://www.w3.org/2000/svg", "title");
    title.textContent = `turn ${place + 1}: ${turns[place].reward > 0 ? "+" : ""}${number(turns[place].reward)}, ${number(point)} in all`;
    dot.append(title);
  });
  return svg;
};
// A repair as a document, without what it leaves unsaid.
const said = (_, each) => (each === null || each === false || (Array.isArray(each) && !each.length) ? undefined : each);
const pretty = (text) => { try { return JSON.stringify(JSON.parse(text), said, 2); } catch { return text; } };
const turnView = (each, place) => {
  const badges = [];
  if (each.reward) badges.push(make("span", { class: `badge ${each.reward > 0 ? "gain" : "loss"}` }, `${each.reward > 0 ? "+" : ""}${number(each.reward)}`));
  if (each.exit_code) badges.push(make("span", { class: "badge exit" }, `exit ${each.exit_code}`));
  if (each.timed_out) badges.push(make("span", { class: "badge loss" }, "timed out"));
  if (each.truncated) badges.push(make("span", { class: "badge" }, "output cut at the limit"));
  for (const name of each.cascades) badges.push(make("span", { class: "badge loss" }, fit(`cascade: ${name}`)));
  const what = { run: "types", answer: "answers", submit: "hands in a repair", done: "is done" }[each.kind] ?? fit(each.kind);
  const head = make("header", {}, make("span", { class: "n" }, String(place + 1)), make("span", { class: "at" }, `${number(each.at)} s`), make("span", { class: "what" }, what), ...badges);
  const item = make("li", { id: `turn-${place + 1}`, class: `turn k-${["run", "answer", "submit", "done"].includes(each.kind) ? each.kind : "other"}` }, head);
  if (each.think) item.append(make("p", { class: "think" }, fit(each.think)));
  if (each.kind === "run") item.append(make("pre", { class: "typed", tabindex: "0" }, make("span", { class: "prompt", "aria-hidden": "true" }, "$ "), fit(each.text)));
  else if (each.kind === "submit") item.append(make("pre", { class: "document", tabindex: "0" }, fit(pretty(each.text))));
  else if (each.text) item.append(make("p", { class: "answer" }, fit(each.text)));
  if (each.output) item.append(terminal(each.output));
  return item;
};
const finding = (fact) => make("tr", {}, make("td", { class: `finding finding-${fact.finding === "not-applicable" ? "none" : fact.finding}` }, fact.finding), make("th", { scope: "row" }, fact.check), make("td", {}, fit(fact.world)), make("td", {}, fact.means), make("td", { class: "sentence" }, fit(fact.reason)));
const tableOf = (headings, rows) => make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": headings.join(", ") }, make("table", {}, make("thead", {}, make("tr", {}, ...headings.map((text) => make("th", { scope: "col", class: ["Points", "At command", "After"].includes(text) ? "number" : null }, text)))), make("tbody", {}, ...rows)));
const list = (texts) => make("ul", { class: "plain" }, ...texts.map((text) => make("li", {}, fit(text))));
const unknown = (amount, text) => (amount === null || amount === undefined ? "unknown" : text);
const episode = async (row) => {
  const { chunks } = all;
  let chunk = chunks.length - 1;
  while (chunks[chunk] > row) chunk -= 1;
  const record = (await part(`t${String(chunk).padStart(5, "0")}`))[row - chunks[chunk]];
  const { trial } = record;
  const siblings = [];
  for (let other = 0; other < all.count; other += 1) if (all.group[other] === all.group[row]) siblings.push(other);
  const place = order.indexOf(row);
  const neighbour = (by, text) => {
    const other = place < 0 ? undefined : order[place + by];
    return other === undefined ? make("span", { class: "off" }, text) : make("a", { href: address({ e: idOf(other) }) }, text);
  };
  const facts = [
    ["Trial", make("code", {}, record.trial_id)], ["Seed, attempt", `${trial.seed}, ${trial.attempt}`],
    ["Pack", fit(`${trial.pack} ${trial.pack_version}, ${trial.split}`)], ["Bundle", make("code", {}, trial.bundle_digest)],
    ["Played on", fit(`${trial.backend}, ${record.mode}`)],
    ["Limits", `${trial.max_commands} commands, ${trial.max_seconds} s, ${trial.output_bytes} bytes of output a command`],
    ["Used", `${record.commands} commands, ${number(record.seconds)} s${record.ordinal ? `, at try ${record.ordinal + 1}` : ""}`],
  ];
  if (record.tokens_in || record.tokens_out || record.requests || record.cost === null) facts.push(["Model", fit(`${record.model ? `${record.model}: ` : ""}${unknown(record.tokens_in, record.tokens_in)} tokens in, ${unknown(record.tokens_out, record.tokens_out)} out, cost ${unknown(record.cost, record.cost)}`)]);
  const ours = record.outcome === "Errored" || record.outcome === "Unsupported";
  const article = $("episode");
  article.replaceChildren(
    make("nav", { class: "way", "aria-label": "Episodes" }, make("a", { href: address({ e: "" }), class: "home" }, "All episodes"), neighbour(-1, "Previous"), neighbour(1, "Next")),
    make("p", { class: "kicker" }, `${word("scenario", row)} · ${word("world", row)} (${trial.role})`),
    make("h1", { id: "episode-title", tabindex: "-1" }, word("agent", row)),
    make("p", { class: "standing" }, make("span", { class: `outcome o-${record.outcome}` }, record.outcome), record.score === null ? "no points to be had here" : `${number(record.score)} of ${number(trial.full_score)} points`, make("span", { class: "of" }, "its attempt: "), verdictMark(word("verdict", row))),
    record.error ? make("p", { class: "warning" }, make("b", {}, ours ? "Ours, not the agent's: " : "The agent's failure: "), fit(record.error)) : "",
    record.objectives.length ? section("Objectives", tableOf(["", "Objective", "Points", "At command", "After"], record.objectives.map((each) => make("tr", {}, make("td", { class: `finding finding-${each.met ? "pass" : each.armed ? "fail" : "none"}` }, each.met ? "met" : each.armed ? "not met" : "never armed"), make("th", { scope: "row" }, fit(each.name)), make("td", { class: "number" }, number(each.points)), make("td", { class: "number" }, each.met_at_command === null ? "–" : String(each.met_at_command)), make("td", { class: "number" }, each.met_at_seconds === null ? "–" : `${number(each.met_at_seconds)} s`))))) : "",
    record.facts.length ? section("What the gate found", tableOf(["Finding", "Check", "World", "By", "Evidence"], record.facts.map(finding))) : "",
    record.harms.length ? section("Harm done", list(record.harms)) : "",
    record.cascades_fired.length ? section("Cascades that fired", list(record.cascades_fired)) : "",
    section("The same attempt in other worlds", make("ul", { class: "plain" }, ...siblings.map((other) => make("li", {}, other === row ? make("b", {}, word("world", other)) : make("a", { href: address({ e: idOf(other) }) }, word("world", other)), ` ${word("role", other)}, ${word("outcome", other)}`)))),
    section("Transcript", record.turns.some((each) => each.reward) ? rewardChart(record.turns) : "", make("ol", { class: "turns" }, ...record.turns.map(turnView)), record.turns.length ? "" : make("p", { class: "empty" }, "Nothing was done.")),
    record.agent_log ? section("The agent's own log", terminal(record.agent_log)) : "",
    section("About this trial", definition(facts)),
  );
  document.title = `${word("agent", row)} at ${word("scenario", row)} · breakfix`;
};

// -- from the address to what is shown
let told = "";
const follow = async () => {
  wanted = read();
  const { e: open, ...rest } = wanted;
  const filters = JSON.stringify(rest);
  if (filters !== told) { if (told) page = 0; told = filters; choose(); }
  for (const name of FILTERS) $(`f-${name}`).value = wanted[name] ?? "";
  if ($("f-q").value !== (wanted.q ?? "")) $("f-q").value = wanted.q ?? "";
  const row = open ? Array.from({ length: all.count }, (_, at) => at).find((at) => open.startsWith(idOf(at)) || idOf(at).startsWith(open)) : undefined;
  if (open && row !== undefined) {
    opener = idOf(row);
    await episode(row);
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
  $("f-q").addEventListener("input", (event) => { clearTimeout(wait); wait = setTimeout(() => { location.hash = address({ q: event.target.value }); }, 150); });
  $("filters").addEventListener("submit", (event) => event.preventDefault());
  $("clear").addEventListener("click", () => { location.hash = ""; });
  $("back").addEventListener("click", () => turn(-1));
  $("on").addEventListener("click", () => turn(1));
  addEventListener("hashchange", () => follow().catch(complain));
  await follow();
};
const complain = (error) => { $("list").hidden = false; $("told").textContent = `The episodes cannot be shown: ${error.message}`; };
start().catch(complain);
