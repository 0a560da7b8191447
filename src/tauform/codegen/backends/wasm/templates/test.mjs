// Compares each function with results that were computed before the code was written, also in place: make check
import { load } from './$name.mjs';

const functions = await load();
const cases = $cases;
let failed = 0;
for (const { name, inputs, outputs, scales, tolerance } of cases) {
  let largest = 0;
  const compare = (found, state) =>
    outputs.forEach((expected, k) =>
      expected[state].forEach((value, i) => {
        largest = Math.max(largest, Math.abs(found[k][i] - value) / scales[k][i]); // what is not a number stays
      }));
  for (let state = 0; state < outputs[0].length; state++) {
    const given = () => inputs.map(({ shared, values }) => Float64Array.from(shared ? values : values[state]));
    const lists = (result) => (outputs.length === 1 ? [result] : result);
    compare(lists(functions[name](...given())), state);
    const args = given();
    outputs.forEach((expected, j) => {
      if (args[0].length < expected[0].length) return;
      const place = outputs.map((_, m) => (m === j ? args[0] : undefined));
      compare(lists(functions[name](...args, ...place)), state);
      args[0] = given()[0];
    });
  }
  const ok = largest <= tolerance;
  console.log(`$${name}: largest deviation $${largest.toExponential(1)}, allowed $${tolerance}: $${ok ? 'ok' : 'FAILED'}`);
  failed |= !ok;
}
process.exit(failed);
