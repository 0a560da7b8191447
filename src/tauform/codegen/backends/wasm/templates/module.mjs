// Functions of $name.wasm; written by tauform $version. SI units; matrices are flat, row by row.
//
//   import { load } from './$name.mjs';
//   const arm = await load();
//   const results = arm.name(...inputs, ...outputs);  // outputs are made where they are not given
//
// One instance works on one memory: share it between calls, not between threads.

const SIGNATURES = $signatures;
const PAGE = 65536;

/** What the C calls for angles beyond its own reduction. */
const imports = {
  env: { sin: Math.sin, cos: Math.cos, atan2: Math.atan2, sinf: Math.sin, cosf: Math.cos, atan2f: Math.atan2 },
};

/** Bytes of the module: those given, or the file beside this one, in node or in a browser. */
async function bytesOf(source) {
  if (source !== undefined) return source;
  const place = new URL('./$name.wasm', import.meta.url);
  if (place.protocol === 'file:') {
    const { readFile } = await import('node:fs/promises');
    return readFile(place);
  }
  return (await fetch(place)).arrayBuffer();
}

/** The functions by name; each takes arrays of numbers and returns an array, or a list of them. */
export async function load(source) {
  const { instance } = await WebAssembly.instantiate(await bytesOf(source), imports);
  const { memory, __heap_base: base } = instance.exports;
  const start = Math.ceil(base.value / 8) * 8;
  const functions = {};
  for (const [name, { inputs, outputs }] of Object.entries(SIGNATURES)) {
    const sizes = [...inputs, ...outputs];
    const bytes = $array.BYTES_PER_ELEMENT;
    const places = [start];
    for (const size of sizes) places.push(places[places.length - 1] + bytes * size);
    const missing = places[sizes.length] - memory.buffer.byteLength;
    if (missing > 0) memory.grow(Math.ceil(missing / PAGE));
    const call = instance.exports[`${inner}_$${name}`];
    functions[name] = (...arrays) => {
      const views = sizes.map((size, k) => new $array(memory.buffer, places[k], size));
      inputs.forEach((size, k) => {
        if (arrays[k].length < size) throw new RangeError(`$${name}: argument $${k + 1} has fewer than $${size} numbers`);
        for (let i = 0; i < size; i++) views[k][i] = arrays[k][i];
      });
      call(...places.slice(0, sizes.length));
      const results = outputs.map((size, k) => {
        const result = arrays[inputs.length + k] ?? new $array(size);
        for (let i = 0; i < size; i++) result[i] = views[inputs.length + k][i];
        return result;
      });
      return results.length === 1 ? results[0] : results;
    };
  }
  return functions;
}
