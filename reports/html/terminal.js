// Text that may hold anything, and what a terminal would be left showing of it.
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
