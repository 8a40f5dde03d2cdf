const careless = require('../careless.cjs');

test('the second file of the process', () => careless());
