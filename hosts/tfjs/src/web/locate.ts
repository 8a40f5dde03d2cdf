/** A page loads TensorFlow.js when it likes: it is waited for. In the place of src/node/locate.ts. */
export function findTfjs(): string {
  return 'the page';
}
