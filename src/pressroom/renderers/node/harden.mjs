// What a drawing library has no business with is taken away before the first one is loaded.
//
// The walls are elsewhere: no network, no files but ours, no eval (see sidecar.py). This makes the picture depend on
// nothing but the source, and keeps what one source does to shared objects from reaching the next.

const MOMENT = Date.UTC(2000, 0, 1);
const SEED = 0x2545f491;
let seed = SEED;

export function harden() {
  for (const name of ["fetch", "WebSocket", "EventSource", "XMLHttpRequest", "crypto", "navigator", "BroadcastChannel"]) {
    delete globalThis[name];
  }
  for (const name of Object.keys(process.env)) delete process.env[name];
  for (const name of Object.keys(console)) console[name] = () => {}; // our answers have the only pipe out
  Math.random = random;
  stopTheClock();
  for (const kind of [Object, Array, Function, String, Number, Boolean, RegExp, Map, Set, Promise, Error]) {
    // Not frozen: libraries override toString on their own objects, which a frozen prototype would forbid.
    Object.preventExtensions(kind.prototype);
  }
}

export function settle() {
  seed = SEED;
}

function random() {
  seed ^= seed << 13;
  seed ^= seed >>> 17;
  seed ^= seed << 5;
  return (seed >>> 0) / 2 ** 32;
}

function stopTheClock() {
  const Real = Date;
  globalThis.Date = new Proxy(Real, {
    apply: () => new Real(MOMENT).toString(),
    construct: (_, given) => new Real(...(given.length ? given : [MOMENT])),
  });
  Real.now = () => MOMENT;
  Real.prototype.constructor = globalThis.Date;
  performance.now = () => 0;
}
