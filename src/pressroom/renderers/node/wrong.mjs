// A mistake of the author's, and where it stands. Lines and columns count from 1.
export class Wrong extends Error {
  constructor(message, line, column) {
    super(message);
    this.line = line;
    this.column = column;
  }
}

export function refuse(source, pattern, message) {
  source.split("\n").forEach((text, index) => {
    const found = pattern.exec(text);
    if (found) throw new Wrong(message(found[1]), index + 1, found.index + found[0].indexOf(found[1]) + 1);
  });
}
