export default { test: { include: ['cases/*.vitest.mjs'], testTimeout: 60000 } };
