// A small picture as a data: address. PlantUML's sprites are made of pixels.

import { deflateSync } from "node:zlib";

export function pngUrl({ width, height, data }) {
  const rows = Buffer.alloc((4 * width + 1) * height);
  for (let y = 0; y < height; y++) rows.set(data.subarray(4 * width * y, 4 * width * (y + 1)), (4 * width + 1) * y + 1);
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 6, 0, 0, 0], 8); // eight bits each of red, green, blue and alpha
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const chunks = [chunk("IHDR", header), chunk("IDAT", deflateSync(rows)), chunk("IEND", Buffer.alloc(0))];
  const png = Buffer.concat([signature, ...chunks]);
  return `data:image/png;base64,${png.toString("base64")}`;
}

function chunk(type, body) {
  const named = Buffer.concat([Buffer.from(type), body]);
  const framed = Buffer.alloc(named.length + 8);
  framed.writeUInt32BE(body.length, 0);
  framed.set(named, 4);
  framed.writeUInt32BE(crc(named), named.length + 4);
  return framed;
}

// zlib.crc32 came with Node 20.15; we promise 20.
function crc(bytes) {
  let sum = ~0;
  for (const byte of bytes) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit++) sum = (sum >>> 1) ^ (sum & 1 ? 0xedb88320 : 0);
  }
  return ~sum >>> 0;
}
