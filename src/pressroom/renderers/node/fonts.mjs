// How wide a text is, read from the very fonts that will draw it.
//
// There is no canvas here. The advance widths of our TrueType files are all that the layouts ask for, and two tables hold
// them: `cmap` says which glyph draws a character, `hmtx` how far it moves the pen.

import { readFileSync } from "node:fs";

const loaded = new Map();

export function measure(folder, family, size, bold, text) {
  const font = fontFor(folder, family, bold);
  let units = 0;
  for (const character of text) units += font.advance(character.codePointAt(0));
  const scale = size / font.unitsPerEm;
  return { width: units * scale, ascent: font.ascent * scale, descent: font.descent * scale };
}

function fontFor(folder, family, bold) {
  const kind = /mono|courier|consolas/i.test(family) ? "Mono" : "Sans";
  const file = `${folder}/Liberation${kind}-${bold ? "Bold" : "Regular"}.ttf`;
  if (!loaded.has(file)) loaded.set(file, parse(readFileSync(file)));
  return loaded.get(file);
}

function parse(file) {
  const tables = {};
  for (let i = 0, at = 12; i < file.readUInt16BE(4); i++, at += 16) {
    tables[file.toString("latin1", at, at + 4)] = file.readUInt32BE(at + 8);
  }
  const glyphs = glyphsOf(file, tables.cmap);
  const wide = file.readUInt16BE(tables.hhea + 34); // glyphs past this one repeat its width
  const widthOf = (glyph) => file.readUInt16BE(tables.hmtx + 4 * Math.min(glyph, wide - 1));
  const unitsPerEm = file.readUInt16BE(tables.head + 18);
  // A character that the font does not have will be drawn by another one: a full em suits CJK and emoji.
  const guess = (code) => (code > 0x2e80 ? unitsPerEm : widthOf(0));
  return {
    unitsPerEm,
    ascent: file.readInt16BE(tables.hhea + 4),
    descent: -file.readInt16BE(tables.hhea + 6),
    advance: (code) => (glyphs.has(code) ? widthOf(glyphs.get(code)) : guess(code)),
  };
}

function glyphsOf(file, cmap) {
  const glyphs = new Map();
  for (let i = 0; i < file.readUInt16BE(cmap + 2); i++) {
    const table = cmap + file.readUInt32BE(cmap + 4 + 8 * i + 4);
    if (file.readUInt16BE(table) === 4) readSegments(file, table, glyphs);
  }
  return glyphs;
}

function readSegments(file, table, glyphs) {
  const doubled = file.readUInt16BE(table + 6);
  const ends = table + 14;
  const starts = ends + doubled + 2;
  for (let at = 0; at < doubled; at += 2) {
    const delta = file.readUInt16BE(starts + doubled + at);
    const offsetAt = starts + 2 * doubled + at;
    const offset = file.readUInt16BE(offsetAt);
    const start = file.readUInt16BE(starts + at);
    for (let code = start; code <= file.readUInt16BE(ends + at) && code !== 0xffff; code++) {
      const glyph = offset === 0 ? code : file.readUInt16BE(offsetAt + offset + 2 * (code - start));
      if (glyph !== 0) glyphs.set(code, (glyph + delta) & 0xffff);
    }
  }
}
