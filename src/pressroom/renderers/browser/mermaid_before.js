// Run before Mermaid is: the same source must give the same picture tomorrow, so there is no clock and no chance.
{
  const Clock = Date;
  globalThis.Date = class Date extends Clock {
    constructor(...given) {
      super(...(given.length ? given : [0]));
    }
    static now() {
      return 0;
    }
  };
  let state = 1;
  Math.random = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
