const careless = require('../careless.cjs');

test('the first file of the process', () => careless());
