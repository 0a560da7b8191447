// Compares each function with results that were computed before the code was written, also in place: node test_$prefix.mjs
import * as functions from './$prefix.mjs';

const cases = $cases;
let failed = 0;
for (const { name, inputs, outputs, scales, tolerance } of cases) {
  let largest = 0;
  const compare = (found, state) =>
    outputs.forEach((expected, k) =>
      expected[state].forEach((value, i) => {
        const error = Math.abs(found[k][i] - value) / scales[k][i];
        largest = Math.max(largest, error); // what is not a number stays
      }));
  const states = outputs[0].length;
  for (let state = 0; state < states; state++) {
    const given = () => inputs.map(({ shared, values }) => Float64Array.from(shared ? values : values[state]));
    const lists = (result) => (outputs.length === 1 ? [result] : result);
    compare(lists(functions[name](...given())), state);
    for (let k = 0; k < inputs.length; k++) {
      outputs.forEach((expected, j) => {
        const args = given();
        const place = outputs.map((_, m) => (m === j ? args[k] : undefined));
        if (args[k].length >= expected[0].length) compare(lists(functions[name](...args, ...place)), state);
      });
    }
  }
  const ok = largest <= tolerance;
  console.log(`$${name}: largest deviation $${largest.toExponential(1)}, allowed $${tolerance}: $${ok ? 'ok' : 'FAILED'}`);
  failed |= !ok;
}
process.exit(failed);
