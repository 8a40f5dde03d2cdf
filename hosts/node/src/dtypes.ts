/** The core's numbers for the dtypes of TensorFlow.js (ebb_dtype). */
export function dtypeCode(dtype: string): number {
  switch (dtype) {
    case 'float32':
      return 1;
    case 'int32':
      return 2;
    case 'bool':
      return 3;
    case 'complex64':
      return 4;
    case 'string':
      return 11;
    default:
      return 0;
  }
}
