// What the viewer's scripts share: making elements, and loading parts of the report's data.
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
