// One episode: what it earned, what the gate found, and its transcript.
const definition = (rows) =>
  make("dl", { class: "lines" }, ...rows.flatMap(([name, text]) => [make("dt", {}, name), make("dd", {}, text)]));
const section = (title, ...children) => make("section", {}, make("h2", {}, title), ...children);
const list = (items) => make("ul", { class: "plain" }, ...items.map((item) => make("li", {}, ...[item].flat())));
const tableOf = (headings, rows) => {
  const head = headings.map(([text, kind]) => make("th", { scope: "col", class: kind ?? null }, text));
  const table = make("table", {}, make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...rows));
  const label = headings.map(([text]) => text).filter(Boolean).join(", ");
  return make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label }, table);
};
const figure = (text) => make("td", { class: "number" }, text ?? "–");
const signed = (amount) => `${amount > 0 ? "+" : ""}${number(amount)}`;

const rewardChart = (turns) => {
  let sum = 0;
  const points = turns.map((each) => (sum = Math.round((sum + each.reward) * 1e6) / 1e6));
  const low = Math.min(0, ...points), high = Math.max(0, ...points), span = high - low || 1;
  const width = 640, height = 96;
  const x = (at) => 8 + (at * (width - 16)) / Math.max(1, turns.length);
  const y = (at) => height - 10 - ((at - low) * (height - 20)) / span;
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const add = (tag, attributes) => {
    const shape = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, text] of Object.entries(attributes)) shape.setAttribute(name, text);
    svg.append(shape);
    return shape;
  };
  const told = `Reward along ${turns.length} turns: from 0 to ${number(sum)}, at most ${number(high)}`;
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", told);
  svg.setAttribute("class", "rewards");
  add("line", { x1: 8, x2: width - 8, y1: y(0), y2: y(0), class: "axis" });
  const steps = points.map((point, place) => `H${x(place + 1)}V${y(point)}`).join("");
  add("path", { d: `M${x(0)} ${y(0)}${steps}`, class: "steps" });
  points.forEach((point, place) => {
    if (!turns[place].reward) return;
    const dot = add("circle", { cx: x(place + 1), cy: y(point), r: 3.5, class: turns[place].reward > 0 ? "gain" : "loss" });
    const title = document.createElementNS("http://www.w3.org/2000/svg", "title");
    title.textContent = `turn ${place + 1}: ${signed(turns[place].reward)}, ${number(point)} in all`;
    dot.append(title);
  });
  return svg;
};
// A repair as a document, without what it leaves unsaid.
const unsaid = (each) => each === null || each === false || (Array.isArray(each) && !each.length);
const pretty = (text) => {
  try {
    return JSON.stringify(JSON.parse(text), (_, each) => (unsaid(each) ? undefined : each), 2);
  } catch {
    return text;
  }
};
const DOES = { run: "types", answer: "answers", submit: "hands in a repair", done: "is done" };
const typed = (each) => {
  if (each.kind === "submit") return make("pre", { class: "document", tabindex: "0" }, fit(pretty(each.text)));
  if (each.kind !== "run") return each.text ? make("p", { class: "answer" }, fit(each.text)) : "";
  const prompt = make("span", { class: "prompt", "aria-hidden": "true" }, "$ ");
  return make("pre", { class: "typed", tabindex: "0" }, prompt, fit(each.text));
};
const turnView = (each, place) => {
  const badge = (text, kind = "") => make("span", { class: `badge ${kind}`.trim() }, text);
  const head = make(
    "header", {},
    make("span", { class: "n" }, String(place + 1)),
    make("span", { class: "at" }, `${number(each.at)} s`),
    make("span", { class: "what" }, DOES[each.kind] ?? fit(each.kind)),
    each.reward ? badge(signed(each.reward), each.reward > 0 ? "gain" : "loss") : "",
    each.exit_code ? badge(`exit ${each.exit_code}`, "exit") : "",
    each.timed_out ? badge("timed out", "loss") : "",
    each.refused ? badge("not run: destructive", "loss") : "",
    each.truncated ? badge("output cut at the limit") : "",
    ...each.cascades.map((name) => badge(fit(`cascade: ${name}`), "loss")),
  );
  return make(
    "li", { id: `turn-${place + 1}`, class: "turn" },
    head,
    each.think ? make("p", { class: "think" }, fit(each.think)) : "",
    typed(each),
    each.output ? terminal(each.output) : "",
  );
};
const standing = (name, kind) => make("td", { class: `finding finding-${kind}` }, name);
const fact = (each) => make(
  "tr", {},
  standing(each.finding, each.finding === "not-applicable" ? "none" : each.finding),
  make("th", { scope: "row" }, each.check),
  make("td", {}, fit(each.world)),
  make("td", {}, each.means),
  make("td", { class: "sentence" }, fit(each.reason)),
);
const objective = (each) => make(
  "tr", {},
  each.met ? standing("met", "pass") : each.armed ? standing("not met", "fail") : standing("never armed", "none"),
  make("th", { scope: "row" }, fit(each.name)),
  figure(number(each.points)),
  figure(each.met_at_command === null ? null : String(each.met_at_command)),
  figure(each.met_at_seconds === null ? null : `${number(each.met_at_seconds)} s`),
);
const about = (record) => {
  const { trial } = record;
  const limits = `${trial.max_commands} commands, ${trial.max_seconds} s, ${trial.output_bytes} bytes of output a command`;
  const again = record.ordinal ? `, at try ${record.ordinal + 1}` : "";
  const lines = [
    ["Trial", make("code", {}, fit(record.trial_id))],
    ["Seed, attempt", `${trial.seed}, ${trial.attempt}`],
    ["Pack", fit(`${trial.pack} ${trial.pack_version}, ${trial.split}`)],
    ["Bundle", make("code", {}, fit(trial.bundle_digest))],
    ["Played on", fit(`${trial.backend}, ${record.mode}`)],
    ["Limits", limits],
    ["Used", `${record.commands} commands, ${number(record.seconds)} s${again}`],
  ];
  if (record.requests || record.tokens_in || record.tokens_out || record.cost === null) {
    const cost = record.cost === null ? "unknown" : number(record.cost);
    const tokens = `${record.tokens_in} tokens in, ${record.tokens_out} out, cost ${cost}`;
    lines.push(["Model", fit(record.model ? `${record.model}: ${tokens}` : tokens)]);
  }
  return section("About this trial", definition(lines));
};
const wrong = (record) => {
  const ours = record.outcome === "Errored" || record.outcome === "Unsupported";
  return make("p", { class: "warning" }, make("b", {}, ours ? "Ours, not the agent's: " : "The agent's failure: "), fit(record.error));
};
const recordOf = async (row) => {
  let chunk = all.chunks.length - 1;
  while (all.chunks[chunk] > row) chunk -= 1;
  return (await part(`t${String(chunk).padStart(5, "0")}`))[row - all.chunks[chunk]];
};
const way = (row) => {
  const place = order.indexOf(row);
  const neighbour = (by, text) => {
    const other = place < 0 ? undefined : order[place + by];
    if (other === undefined) return make("span", { class: "off" }, text);
    return make("a", { href: address({ e: idOf(other) }) }, text);
  };
  const home = make("a", { href: address({ e: "" }), class: "home" }, "All episodes");
  return make("nav", { class: "way", "aria-label": "Episodes" }, home, neighbour(-1, "Previous"), neighbour(1, "Next"));
};
const worlds = (row) => {
  const same = [];
  for (let other = 0; other < all.count; other += 1) if (all.group[other] === all.group[row]) same.push(other);
  const name = (other) => (other === row ? make("b", {}, word("world", other)) : make("a", { href: address({ e: idOf(other) }) }, word("world", other)));
  return list(same.map((other) => [name(other), ` ${word("role", other)}, ${word("outcome", other)}`]));
};
const episodeView = (row, record) => {
  const { turns, trial } = record;
  const points = record.score === null ? "no points to be had here" : `${number(record.score)} of ${number(trial.full_score)} points`;
  const right = (text) => [text, "number"];
  const parts = [
    way(row),
    make("p", { class: "kicker" }, `${word("scenario", row)} · ${word("world", row)} (${trial.role})`),
    make("h1", { id: "episode-title", tabindex: "-1" }, word("agent", row)),
    make(
      "p", { class: "standing" },
      make("span", { class: `outcome o-${record.outcome}` }, record.outcome),
      points,
      make("span", { class: "of" }, "its attempt: "),
      verdictMark(word("verdict", row)),
    ),
    record.error && wrong(record),
    record.objectives.length && section("Objectives", tableOf(
      [[""], ["Objective"], right("Points"), right("At command"), right("After")], record.objectives.map(objective),
    )),
    record.facts.length && section("What the gate found", tableOf(
      [["Finding"], ["Check"], ["World"], ["By"], ["Evidence"]], record.facts.map(fact),
    )),
    record.harms.length && section("Harm done", list(record.harms.map(fit))),
    record.cascades_fired.length && section("Cascades that fired", list(record.cascades_fired.map(fit))),
    section("The same attempt in other worlds", worlds(row)),
    section(
      "Transcript",
      turns.some((each) => each.reward) ? rewardChart(turns) : "",
      turns.length ? make("ol", { class: "turns" }, ...turns.map(turnView)) : make("p", { class: "empty" }, "Nothing was done."),
    ),
    record.agent_log && section("The agent's own log", terminal(record.agent_log)),
    about(record),
  ];
  return parts.filter(Boolean);
};
