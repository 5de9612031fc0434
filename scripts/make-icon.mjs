import { writeFileSync } from "node:fs";
import path from "node:path";
import { deflateSync } from "node:zlib";
import { root } from "./lib/node22.mjs";

/**
 * Draws the icon of the extension: a waveform that turns into lines of text, on a rounded square. It is drawn from
 * distances to shapes, so the edges are smooth at any size and nothing but Node is needed.
 *
 *   node scripts/make-icon.mjs            writes extension/assets/icon.png (512 × 512)
 */
const bars = [
  { x: 0.215, height: 0.16 },
  { x: 0.305, height: 0.4 },
  { x: 0.395, height: 0.58 },
  { x: 0.485, height: 0.3 },
];
const lines = [
  { y: 0.36, from: 0.6, to: 0.82 },
  { y: 0.5, from: 0.6, to: 0.79 },
  { y: 0.64, from: 0.6, to: 0.7 },
];
const stroke = 0.03;

function draw(size) {
  const pixels = Buffer.alloc(size * size * 4);
  for (let y = 0; y < size; y += 1) {
    for (let x = 0; x < size; x += 1) {
      const at = (y * size + x) * 4;
      const [u, v] = [(x + 0.5) / size, (y + 0.5) / size];
      const plate = coverage(roundedSquare(u, v, 0.04, 0.21), size);
      const glyph = Math.max(
        ...bars.map((bar) => coverage(capsule(u, v, bar.x, 0.5 - bar.height / 2, bar.x, 0.5 + bar.height / 2), size)),
        ...lines.map((line) => coverage(capsule(u, v, line.from, line.y, line.to, line.y), size)),
      );
      const dot = coverage(Math.hypot(u - 0.785, v - 0.64) - 0.042, size);
      const shade = (u + v) / 2;
      let colour = mix([38, 70, 83], [22, 38, 58], shade);
      colour = mix(colour, [244, 241, 232], glyph);
      colour = mix(colour, [231, 96, 76], dot);
      colour.forEach((value, channel) => (pixels[at + channel] = Math.round(value)));
      pixels[at + 3] = Math.round(plate * 255);
    }
  }
  return png(size, pixels);
}

const mix = (from, to, share) => from.map((value, channel) => value + (to[channel] - value) * share);
const coverage = (distance, size) => Math.min(1, Math.max(0, 0.5 - distance * size));

function roundedSquare(u, v, margin, radius) {
  const half = 0.5 - margin - radius;
  const [dx, dy] = [Math.abs(u - 0.5) - half, Math.abs(v - 0.5) - half];
  return Math.hypot(Math.max(dx, 0), Math.max(dy, 0)) + Math.min(Math.max(dx, dy), 0) - radius;
}

function capsule(u, v, ax, ay, bx, by) {
  const [dx, dy] = [bx - ax, by - ay];
  const along = Math.min(1, Math.max(0, ((u - ax) * dx + (v - ay) * dy) / (dx * dx + dy * dy)));
  return Math.hypot(u - ax - dx * along, v - ay - dy * along) - stroke;
}

function png(size, pixels) {
  const rows = Buffer.alloc(size * (size * 4 + 1));
  for (let y = 0; y < size; y += 1) pixels.copy(rows, y * (size * 4 + 1) + 1, y * size * 4, (y + 1) * size * 4);
  const header = Buffer.alloc(13);
  header.writeUInt32BE(size, 0);
  header.writeUInt32BE(size, 4);
  header.set([8, 6, 0, 0, 0], 8);
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const chunks = [
    chunk("IHDR", header),
    chunk("IDAT", deflateSync(rows, { level: 9 })),
    chunk("IEND", Buffer.alloc(0)),
  ];
  return Buffer.concat([signature, ...chunks]);
}

function chunk(type, data) {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  check.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, check]);
}

function crc32(bytes) {
  let value = 0xffffffff;
  for (const byte of bytes) {
    value ^= byte;
    for (let bit = 0; bit < 8; bit += 1) value = (value >>> 1) ^ (value & 1 ? 0xedb88320 : 0);
  }
  return (value ^ 0xffffffff) >>> 0;
}

writeFileSync(path.join(root, "extension/assets/icon.png"), draw(512));
