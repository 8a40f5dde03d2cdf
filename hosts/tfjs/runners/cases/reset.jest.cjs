beforeEach(() => jest.resetModules());

for (const turn of ['first', 'second']) {
  test(`the ${turn} registry`, () => require('../careless.cjs')());
}
